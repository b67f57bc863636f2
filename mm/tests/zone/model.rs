//! The model: the state of each frame. What blocks there are follows from these alone, so the
//! model cannot depend on the order in which frames came back.

use std::sync::Mutex;

use nearmem::platform::CpuToken;
use nearmem::zone::{Cursor, FreeError, FreeFrames, RawMemory, ReleaseError};
use nearmem::{Order, Pfn, PfnRange};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Reserved,
    Free,
    Taken,
}

/// The frames of one range.
pub struct Model {
    frames: PfnRange,
    ranges: &'static [PfnRange],
    states: Mutex<Vec<State>>,
}

impl Model {
    fn state(&self, frame: Pfn) -> Option<State> {
        let at = self.frames.contains(frame).then(|| (frame - self.frames.start) as usize)?;
        Some(self.states.lock().unwrap()[at])
    }

    fn set(&self, frames: PfnRange, state: State) {
        let first = (frames.start - self.frames.start) as usize;
        self.states.lock().unwrap()[first..first + frames.len() as usize].fill(state);
    }

    fn all_free(&self, block: u64, order: Order) -> bool {
        self.range(block, block + order.pages()).all(|state| state == Some(State::Free))
    }

    fn range(&self, start: u64, end: u64) -> impl Iterator<Item = Option<State>> + '_ {
        (start..end).map(|frame| self.state(Pfn(frame)))
    }

    /// Free blocks of exactly this order: all of it is free, and not all of the block above.
    fn exactly(&self, order: Order) -> impl Iterator<Item = Pfn> + '_ {
        let first = self.frames.start.0 >> order.get() << order.get();
        (first..self.frames.end.0)
            .step_by(order.pages() as usize)
            .filter(move |&block| {
                self.all_free(block, order)
                    && Order::new(order.get() + 1).is_none_or(|above| {
                        !self.all_free(block >> above.get() << above.get(), above)
                    })
            })
            .map(Pfn)
    }

    /// Takes this very block; false when it is not all free.
    pub fn claim(&self, block: Pfn, order: Order) -> bool {
        let possible = block.is_aligned(order) && self.all_free(block.0, order);
        if possible {
            self.set(PfnRange { start: block, end: block + order.pages() }, State::Taken);
        }
        possible
    }

    /// Whether a block of this order is free.
    pub fn has(&self, order: Order) -> bool {
        Order::all().skip(order.index()).any(|order| self.exactly(order).next().is_some())
    }
}

impl FreeFrames<'_> for Model {
    fn metadata_bytes(_: impl Iterator<Item = PfnRange>) -> u64 {
        0
    }

    fn new(
        frames: PfnRange,
        _: u64,
        _: impl Iterator<Item = PfnRange>,
        _: RawMemory<'_>,
    ) -> Option<Model> {
        let states = Mutex::new(vec![State::Reserved; frames.len() as usize]);
        Some(Model { frames, ranges: &[], states })
    }

    fn ranges(&self) -> &'static [PfnRange] {
        self.ranges
    }

    fn release(&self, _: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError> {
        let taken = |pfn: &u64| self.state(Pfn(*pfn)) != Some(State::Reserved);
        match (frames.start.0..frames.end.0).find(taken) {
            Some(pfn) => Err(ReleaseError::Managed { pfn: Pfn(pfn) }),
            None => {
                self.set(frames, State::Free);
                Ok(())
            }
        }
    }

    fn take(&self, _: &CpuToken, _: &Cursor, order: Order) -> Option<Pfn> {
        let block =
            Order::all().skip(order.index()).find_map(|order| self.exactly(order).next())?;
        assert!(self.claim(block, order));
        Some(block)
    }

    fn put(&self, _: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError> {
        if !block.is_aligned(order) {
            return Err(FreeError::Misaligned { pfn: block, order });
        }
        if !self.frames.contains(block) {
            return Err(FreeError::OutOfRange { pfn: block });
        }
        let frames = || (block.0..block.0 + order.pages()).map(Pfn);
        for pfn in frames() {
            match self.state(pfn) {
                None => return Err(FreeError::OutOfRange { pfn }),
                Some(State::Reserved) => return Err(FreeError::Reserved { pfn }),
                Some(_) => (),
            }
        }
        if let Some(pfn) = frames().find(|&frame| self.state(frame) == Some(State::Free)) {
            return Err(FreeError::AlreadyFree { pfn });
        }
        self.set(PfnRange { start: block, end: block + order.pages() }, State::Free);
        Ok(())
    }

    fn free(&self) -> u64 {
        let states = self.states.lock().unwrap();
        states.iter().filter(|&&state| state == State::Free).count() as u64
    }

    fn blocks(&self, _: &CpuToken) -> [u64; Order::COUNT] {
        let mut blocks = [0; Order::COUNT];
        for order in Order::all() {
            blocks[order.index()] = self.exactly(order).count() as u64;
        }
        blocks
    }

    fn is_free(&self, _: &CpuToken, frame: Pfn) -> bool {
        self.state(frame) == Some(State::Free)
    }

    fn is_managed(&self, _: &CpuToken, frame: Pfn) -> bool {
        self.state(frame).is_some_and(|state| state != State::Reserved)
    }
}
