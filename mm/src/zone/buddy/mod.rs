//! A buddy allocator without lists: per order a bitmap of free blocks (reference:
//! buddy-and-pagesets, section 1). The second implementation of [`FreeFrames`](super::FreeFrames),
//! which the first is measured against and tested beside.
//!
//! A bit at order k says that there is a free block of exactly this order; nothing is set for
//! the smaller blocks inside it. All orders together take 2 bits per frame and 1/63 more for the
//! summaries: 0.254 bytes per frame.

mod bits;
mod locked;

pub use self::locked::LockedBuddy;

use self::bits::{Bits, words_for};
use super::{FreeError, RawMemory};
use crate::units::{Order, Pfn, PfnRange};

/// The free blocks of one contiguous range.
#[derive(Debug)]
struct Buddy<'m> {
    frames: PfnRange,
    counts: [u64; Order::COUNT],
    maps: [Bits<'m>; Order::COUNT],
}

impl<'m> Buddy<'m> {
    /// Bytes of metadata for a range, a multiple of 64.
    fn metadata_bytes(frames: PfnRange) -> u64 {
        Order::all()
            .map(|order| RawMemory::bytes_for::<u64>(words_for(places(frames, order))))
            .fold(0, u64::saturating_add)
    }

    /// No frame is free. `None` when `memory` has less than `metadata_bytes` left.
    fn new(frames: PfnRange, memory: &mut RawMemory<'m>) -> Option<Self> {
        let mut maps = core::array::from_fn(|_| Bits::empty());
        for (map, order) in maps.iter_mut().zip(Order::all()) {
            *map = Bits::new(places(frames, order), memory)?;
        }
        Some(Buddy { frames, counts: [0; Order::COUNT], maps })
    }

    /// Takes the lowest block of the smallest order that will do, and of it the lower end.
    fn take(&mut self, order: Order) -> Option<Pfn> {
        let from = self.smallest(order)?;
        let place = self.maps[from.index()].first()?;
        let block = Pfn(((self.frames.start.0 >> from.get()) + place) << from.get());
        self.remove(block, from);
        // The lower half is kept, the upper one is free: single frames run upward.
        for half in Order::all().take(from.index()).skip(order.index()) {
            self.insert(block + half.pages(), half);
        }
        Some(block)
    }

    /// Puts an aligned block back, merging it with free buddies up to order 10. The error names the
    /// lowest frame of the block that is free already or not in the range.
    fn put(&mut self, block: Pfn, order: Order) -> Result<(), FreeError> {
        if !self.frames.contains(block) {
            return Err(FreeError::OutOfRange { pfn: block });
        }
        if order.pages() > self.frames.end - block {
            return Err(FreeError::OutOfRange { pfn: self.frames.end });
        }
        if let Some(pfn) = self.first_free_in(block, order) {
            return Err(FreeError::AlreadyFree { pfn });
        }
        let mut block = block;
        let mut order = order;
        while order < Order::MAX {
            let buddy = Pfn(block.0 ^ order.pages());
            let Some(parent) = Order::new(order.get() + 1).filter(|_| self.has(buddy, order))
            else {
                break;
            };
            self.remove(buddy, order);
            block = block.min(buddy);
            order = parent;
        }
        self.insert(block, order);
        Ok(())
    }

    /// Free blocks of exactly this order.
    fn blocks(&self, order: Order) -> u64 {
        self.counts[order.index()]
    }

    /// Whether this frame is free; false outside the range.
    fn is_free(&self, frame: Pfn) -> bool {
        Order::all().any(|order| self.has(frame, order))
    }

    /// The order of the block from which `take(order)` would be served.
    fn smallest(&self, order: Order) -> Option<Order> {
        Order::all().skip(order.index()).find(|&order| self.blocks(order) > 0)
    }
}

impl Buddy<'_> {
    /// Whether the aligned block of this order around `frame` is a free block.
    fn has(&self, frame: Pfn, order: Order) -> bool {
        self.place(frame, order).is_some_and(|place| self.maps[order.index()].get(place))
    }

    /// The bit of the aligned block around `frame`, if the range reaches there.
    fn place(&self, frame: Pfn, order: Order) -> Option<u64> {
        (frame.0 >> order.get()).checked_sub(self.frames.start.0 >> order.get())
    }

    /// Marks an aligned block that lies in the range as free.
    fn insert(&mut self, block: Pfn, order: Order) {
        if let Some(place) = self.place(block, order) {
            self.maps[order.index()].set(place);
            self.counts[order.index()] += 1;
        }
    }

    /// Marks a free block as not free.
    fn remove(&mut self, block: Pfn, order: Order) {
        if let Some(place) = self.place(block, order) {
            self.maps[order.index()].clear(place);
            self.counts[order.index()] -= 1;
        }
    }

    /// The lowest frame of a block that is free, in whatever free block: one that contains this
    /// one, or one inside it.
    fn first_free_in(&self, block: Pfn, order: Order) -> Option<Pfn> {
        if Order::all().skip(order.index()).any(|above| self.has(block, above)) {
            return Some(block);
        }
        Order::all()
            .take(order.index())
            .filter(|below| self.counts[below.index()] > 0)
            .filter_map(|below| {
                let first = self.place(block, below)?;
                let end = first + (order.pages() >> below.get());
                let place = self.maps[below.index()].first_in(first, end)?;
                Some(block + ((place - first) << below.get()))
            })
            .min()
    }
}

/// How many aligned blocks of this order a range touches.
fn places(frames: PfnRange, order: Order) -> u64 {
    if frames.is_empty() {
        return 0;
    }
    ((frames.end.0 - 1) >> order.get()) - (frames.start.0 >> order.get()) + 1
}
