//! Buddy allocators behind one lock: a whole zone in the plainest way that works.
#![forbid(unsafe_code)]

use super::Buddy;
use crate::platform::CpuToken;
use crate::sync::{AtomicU64, Ordering::Relaxed, SpinLock};
use crate::units::{Order, Pfn, PfnRange};
use crate::zone::layout::Layout;
use crate::zone::managed::{Managed, range_of};
use crate::zone::{Cursor, FreeError, FreeFrames, RawMemory, ReleaseError};

/// A zone's free frames as a bitmap for each order and range, behind one lock. Takes the lowest block of
/// the smallest order that will do.
pub struct LockedBuddy<'m> {
    ranges: &'m [PfnRange],
    areas: SpinLock<Areas<'m>>,
    /// Written under the lock, for readers without it.
    free: AtomicU64,
}

struct Areas<'m> {
    managed: Managed<'m>,
    ranges: &'m [PfnRange],
    buddies: &'m mut [Buddy<'m>],
    free: u64,
}

impl<'m> LockedBuddy<'m> {
    /// Runs `change` under the lock and brings the counter of free frames up to date.
    fn change<R>(&self, change: impl FnOnce(&mut Areas<'m>) -> R) -> R {
        let mut areas = self.areas.lock();
        let result = change(&mut areas);
        self.free.store(areas.free, Relaxed);
        result
    }
}

impl<'m> FreeFrames<'m> for LockedBuddy<'m> {
    fn metadata_bytes(ranges: impl Iterator<Item = PfnRange>) -> u64 {
        Layout::<Buddy<'_>>::bytes(ranges, Buddy::metadata_bytes)
    }

    fn new(
        span: PfnRange,
        count: u64,
        ranges: impl Iterator<Item = PfnRange>,
        memory: RawMemory<'m>,
    ) -> Option<Self> {
        let layout = Layout::new(span, count, ranges, memory, Buddy::new)?;
        let Layout { ranges, managed, areas: buddies } = layout;
        let areas = SpinLock::new(Areas { managed, ranges, buddies, free: 0 });
        Some(LockedBuddy { ranges, areas, free: AtomicU64::new(0) })
    }

    fn ranges(&self) -> &'m [PfnRange] {
        self.ranges
    }

    fn release(&self, _token: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError> {
        if frames.is_empty() {
            return Ok(());
        }
        self.change(|areas| {
            let at = areas.managed.release(frames)?;
            let mut start = frames.start;
            while start < frames.end {
                let order = largest_block(start, frames.end);
                // A frame that was never released is in no free block, so this cannot fail.
                let put = areas.buddies[at].put(start, order);
                debug_assert_eq!(put, Ok(()));
                start = start + order.pages();
            }
            areas.free += frames.len();
            Ok(())
        })
    }

    fn take(&self, _token: &CpuToken, _cursor: &Cursor, order: Order) -> Option<Pfn> {
        self.change(|areas| {
            // `min_by_key` keeps the first of equals.
            let (_, buddy) = areas
                .buddies
                .iter_mut()
                .filter_map(|buddy| buddy.smallest(order).map(|smallest| (smallest, buddy)))
                .min_by_key(|&(smallest, _)| smallest)?;
            let block = buddy.take(order)?;
            areas.free -= order.pages();
            Some(block)
        })
    }

    fn put(&self, _token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError> {
        if !block.is_aligned(order) {
            return Err(FreeError::Misaligned { pfn: block, order });
        }
        self.change(|areas| {
            if let Some(error) = areas.managed.refusal(block, order.pages()) {
                return Err(error);
            }
            let buddy = range_of(areas.ranges, block).and_then(|at| areas.buddies.get_mut(at));
            buddy.ok_or(FreeError::Hole { pfn: block })?.put(block, order)?;
            areas.free += order.pages();
            Ok(())
        })
    }

    fn free(&self) -> u64 {
        self.free.load(Relaxed)
    }

    fn blocks(&self, _token: &CpuToken) -> [u64; Order::COUNT] {
        let areas = self.areas.lock();
        let mut blocks = [0; Order::COUNT];
        for (count, order) in blocks.iter_mut().zip(Order::all()) {
            *count = areas.buddies.iter().map(|buddy| buddy.blocks(order)).sum();
        }
        blocks
    }

    fn is_free(&self, _token: &CpuToken, frame: Pfn) -> bool {
        let areas = self.areas.lock();
        let buddy = range_of(areas.ranges, frame).and_then(|at| areas.buddies.get(at));
        buddy.is_some_and(|buddy| buddy.is_free(frame))
    }

    fn is_managed(&self, _token: &CpuToken, frame: Pfn) -> bool {
        self.areas.lock().managed.contains(frame)
    }
}

/// The order of the largest block that begins at `start` and ends by `end`, which is above it.
fn largest_block(start: Pfn, end: Pfn) -> Order {
    Order::all()
        .rev()
        .find(|&order| start.is_aligned(order) && order.pages() <= end - start)
        .unwrap_or(Order::ZERO)
}
