//! The model: one flag per frame. What blocks there are follows from the flags alone, so the
//! model cannot depend on the order in which frames came back.

use nearmem::zone::{FreeError, FreeFrames, RawMemory};
use nearmem::{Order, Pfn, PfnRange};

/// The free frames of a range, one flag each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flags {
    frames: PfnRange,
    free: Vec<bool>,
}

impl Flags {
    fn all_free(&self, block: u64, order: Order) -> bool {
        (block..block + order.pages()).all(|frame| self.is_free(Pfn(frame)))
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

    fn set(&mut self, block: Pfn, order: Order, free: bool) {
        let first = (block - self.frames.start) as usize;
        self.free[first..first + order.pages() as usize].fill(free);
    }
}

impl FreeFrames<'_> for Flags {
    fn metadata_bytes(_: PfnRange) -> u64 {
        0
    }

    fn new(frames: PfnRange, _: &mut RawMemory<'_>) -> Option<Flags> {
        Some(Flags { frames, free: vec![false; frames.len() as usize] })
    }

    fn take(&mut self, order: Order) -> Option<Pfn> {
        let block =
            Order::all().skip(order.index()).find_map(|order| self.exactly(order).next())?;
        self.set(block, order, false);
        Some(block)
    }

    fn put(&mut self, block: Pfn, order: Order) -> Result<(), FreeError> {
        if !block.is_aligned(order) {
            return Err(FreeError::Misaligned { pfn: block, order });
        }
        if !self.frames.contains(block) {
            return Err(FreeError::OutOfRange { pfn: block });
        }
        for frame in block.0..block.0 + order.pages() {
            if !self.frames.contains(Pfn(frame)) {
                return Err(FreeError::OutOfRange { pfn: Pfn(frame) });
            }
        }
        for frame in block.0..block.0 + order.pages() {
            if self.is_free(Pfn(frame)) {
                return Err(FreeError::AlreadyFree { pfn: Pfn(frame) });
            }
        }
        self.set(block, order, true);
        Ok(())
    }

    fn free(&self) -> u64 {
        self.free.iter().filter(|&&free| free).count() as u64
    }

    fn blocks(&self, order: Order) -> u64 {
        self.exactly(order).count() as u64
    }

    fn is_free(&self, frame: Pfn) -> bool {
        self.frames.contains(frame) && self.free[(frame - self.frames.start) as usize]
    }
}
