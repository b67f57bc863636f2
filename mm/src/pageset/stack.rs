//! The stack of frames in one page.

use crate::sync::{LocalWord, LocalWord32};
use crate::units::Pfn;

use super::PagesetSizes;

/// Frames that one page has room for, beside the header.
pub const CAPACITY: usize = 960;

const HEADER_BYTES: usize = 256;
const HEADER_USED: usize = 2 * 8 + 4 * 4;

/// Frames of one zone, last in first out. One page: what it holds are offsets of 32 bits from
/// `base`, the first frame of a segment of 2^32 frames; a wider zone has several segments, and
/// the stack holds frames of one of them at a time.
///
/// The array is a ring, so that the oldest frames can be taken from the other end without moving
/// the rest.
#[repr(C)]
#[derive(Debug)]
pub struct Pageset {
    base: LocalWord,
    /// The frame that it fills itself.
    frame: Pfn,
    count: LocalWord32,
    /// Where the next frame goes, below [`CAPACITY`].
    next: LocalWord32,
    limit: LocalWord32,
    batch: LocalWord32,
    _unused: [LocalWord32; (HEADER_BYTES - HEADER_USED) / 4],
    offsets: [LocalWord32; CAPACITY],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Pageset>() == crate::units::PAGE_SIZE as usize);

/// The frame is too far from those that the pageset holds; drain it first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherSegment;

impl Pageset {
    /// An empty pageset, which fills `frame` itself, for the segment that begins at `base`.
    pub fn new(frame: Pfn, base: Pfn, sizes: PagesetSizes) -> Pageset {
        let pageset = Pageset {
            base: LocalWord::new(base.0),
            frame,
            count: LocalWord32::new(0),
            next: LocalWord32::new(0),
            limit: LocalWord32::new(0),
            batch: LocalWord32::new(0),
            _unused: core::array::from_fn(|_| LocalWord32::new(0)),
            offsets: core::array::from_fn(|_| LocalWord32::new(0)),
        };
        pageset.resize(sizes);
        pageset
    }

    /// Changes batch and limit. What is above a lower limit leaves with the next frame that is
    /// freed. Other CPUs may call it.
    pub fn resize(&self, sizes: PagesetSizes) {
        self.limit.set(sizes.limit());
        self.batch.set(sizes.batch);
    }

    /// The frame that it fills itself.
    pub fn frame(&self) -> Pfn {
        self.frame
    }

    /// How many frames it holds.
    pub fn count(&self) -> u32 {
        self.count.get()
    }

    /// From how many frames on it gives some back.
    pub fn limit(&self) -> u32 {
        self.limit.get()
    }

    /// Frames of one refill or drain.
    pub fn batch(&self) -> u32 {
        self.batch.get()
    }

    /// How many frames have to go, after a push: down to a batch below the limit, once the limit
    /// is reached.
    pub fn surplus(&self) -> u32 {
        let (count, limit) = (self.count(), self.limit());
        if count < limit { 0 } else { count - limit.saturating_sub(self.batch()) }
    }

    /// Puts a frame on top.
    ///
    /// A full stack refuses as one of another segment does: the caller drains it and tries again.
    pub fn push(&self, frame: Pfn) -> Result<(), OtherSegment> {
        let Ok(offset) = u32::try_from(frame.0.wrapping_sub(self.base.get())) else {
            return Err(OtherSegment);
        };
        let count = self.count();
        let next = self.next.get() as usize;
        let Some(place) = self.offsets.get(next).filter(|_| (count as usize) < CAPACITY) else {
            return Err(OtherSegment);
        };
        place.set(offset);
        self.next.set(if next + 1 == CAPACITY { 0 } else { next as u32 + 1 });
        self.count.set(count + 1);
        Ok(())
    }

    /// Takes the frame that came last.
    pub fn pop(&self) -> Option<Pfn> {
        let count = self.count().checked_sub(1)?;
        let top = self.next.get().checked_sub(1).unwrap_or(CAPACITY as u32 - 1);
        let offset = self.offsets.get(top as usize)?.get();
        self.next.set(top);
        self.count.set(count);
        Some(Pfn(self.base.get().wrapping_add(u64::from(offset))))
    }

    /// Takes the frames that have been here longest, as many as there are and `into` has room for.
    pub fn take_oldest(&self, into: &mut [Pfn]) -> usize {
        let count = self.count() as usize;
        let taken = into.len().min(count);
        let mut at = (self.next.get() as usize + CAPACITY - count) % CAPACITY;
        for frame in &mut into[..taken] {
            *frame = Pfn(self.base.get().wrapping_add(u64::from(self.offsets[at].get())));
            at = if at + 1 == CAPACITY { 0 } else { at + 1 };
        }
        self.count.set((count - taken) as u32);
        taken
    }

    /// Moves an empty stack to the segment of a zone (whose first segment begins at `first`) that
    /// has `frame`. A stack that is not empty stays.
    pub fn move_to_segment(&self, first: Pfn, frame: Pfn) {
        if self.count() == 0 {
            let within = frame.0.wrapping_sub(first.0) & u64::from(u32::MAX);
            self.base.set(frame.0.wrapping_sub(within));
        }
    }

    /// Whether it holds this frame. Exact on its own CPU; elsewhere, while the CPU works, a guess.
    pub fn holds(&self, frame: Pfn) -> bool {
        let Ok(offset) = u32::try_from(frame.0.wrapping_sub(self.base.get())) else {
            return false;
        };
        let count = (self.count() as usize).min(CAPACITY);
        let first = self.next.get() as usize + CAPACITY - count;
        (first..first + count).any(|at| self.offsets[at % CAPACITY].get() == offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::collections::VecDeque;

    fn pageset(batch: u32, high: u64) -> Box<Pageset> {
        Box::new(Pageset::new(Pfn(7), Pfn(0x1000), PagesetSizes { batch, high }))
    }

    #[test]
    fn the_last_frame_in_is_the_first_out() {
        let set = pageset(1, 10);
        for frame in [0x1005, 0x1001, 0x1fff] {
            set.push(Pfn(frame)).unwrap();
        }
        assert!(set.holds(Pfn(0x1001)) && !set.holds(Pfn(0x1002)) && !set.holds(Pfn(3)));
        assert_eq!(set.pop(), Some(Pfn(0x1fff)));
        assert_eq!(set.pop(), Some(Pfn(0x1001)));
        assert_eq!(set.pop(), Some(Pfn(0x1005)));
        assert_eq!(set.pop(), None);
        assert!(!set.holds(Pfn(0x1001)));
    }

    #[test]
    fn surplus_is_what_lies_above_a_batch_below_the_limit() {
        let set = pageset(3, 12);
        for frame in 0..11 {
            set.push(Pfn(0x1000 + frame)).unwrap();
            assert_eq!(set.surplus(), 0);
        }
        set.push(Pfn(0x2000)).unwrap();
        assert_eq!(set.surplus(), 3);
        set.resize(PagesetSizes { batch: 3, high: 8 });
        assert_eq!(set.surplus(), 7);
        set.resize(PagesetSizes::BOOT);
        assert_eq!(set.surplus(), 12);
    }

    #[test]
    fn a_full_stack_and_a_far_frame_are_refused() {
        let set = pageset(63, 960);
        assert_eq!(set.push(Pfn(0xfff)), Err(OtherSegment));
        assert_eq!(set.push(Pfn(0x1000 + (1 << 32))), Err(OtherSegment));
        for frame in 0..CAPACITY as u64 {
            set.push(Pfn(0x1000 + frame)).unwrap();
        }
        assert_eq!(set.push(Pfn(0x9000)), Err(OtherSegment));
        assert_eq!(set.count(), 960);
    }

    #[test]
    fn an_empty_stack_moves_to_any_segment_and_a_used_one_does_not() {
        let set = pageset(1, 10);
        let far = Pfn(0x1000 + (5 << 32) + 7);
        set.move_to_segment(Pfn(0x1000), far);
        set.push(far).unwrap();
        set.move_to_segment(Pfn(0x1000), Pfn(0x1001));
        assert_eq!(set.push(Pfn(0x1001)), Err(OtherSegment));
        assert_eq!(set.pop(), Some(far));
        set.move_to_segment(Pfn(0x1000), Pfn(0x1001));
        set.push(Pfn(0x1001)).unwrap();
        assert_eq!(set.pop(), Some(Pfn(0x1001)));
    }

    proptest::proptest! {
        #[test]
        fn it_is_a_stack_whose_bottom_can_be_taken(ops in proptest::collection::vec((0u8..3, 1u64..100), 1..300)) {
            let set = pageset(63, 960);
            let mut model = VecDeque::new();
            let mut fresh = 0x1000;
            for (op, number) in ops {
                match op {
                    0 => for _ in 0..number {
                        fresh += 1;
                        if set.push(Pfn(fresh)).is_ok() {
                            model.push_back(Pfn(fresh));
                        } else {
                            proptest::prop_assert_eq!(model.len(), CAPACITY);
                        }
                    },
                    1 => proptest::prop_assert_eq!(set.pop(), model.pop_back()),
                    _ => {
                        let mut buffer = [Pfn(0); 100];
                        let taken = set.take_oldest(&mut buffer[..number as usize]);
                        proptest::prop_assert_eq!(taken, model.len().min(number as usize));
                        for frame in &buffer[..taken] {
                            proptest::prop_assert_eq!(Some(*frame), model.pop_front());
                        }
                    }
                }
                proptest::prop_assert_eq!(set.count() as usize, model.len());
                proptest::prop_assert!(model.iter().all(|&frame| set.holds(frame)));
            }
        }
    }
}
