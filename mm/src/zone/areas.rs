//! The contiguous ranges of a zone, and which of their frames were released to it.

use super::{FreeError, FreeFrames, RawMemory, ReleaseError};
use crate::memblock::RegionList;
use crate::units::{Order, Pfn, PfnRange, PhysRange};

/// How many reserved ranges a zone can have between frames that were released to it.
pub(super) const RESERVED_RANGES: u64 = 120;

/// The frames of a zone. Every method keeps the state on an error.
pub(super) struct Areas<'m, F> {
    /// The zone, holes included.
    span: PfnRange,
    /// Ranges with RAM, ascending.
    ranges: &'m [PfnRange],
    /// The free frames of each range.
    areas: &'m mut [F],
    /// Frames that were released. As ranges and not as bits: there are few.
    managed: RegionList<'m>,
    free: u64,
}

/// Ranges of released frames to keep room for: each range is one, and each reserved range splits
/// one.
fn managed_slots(ranges: u64) -> u64 {
    if ranges == 0 { 0 } else { ranges + RESERVED_RANGES }
}

impl<'m, F: FreeFrames<'m>> Areas<'m, F> {
    /// Bytes of metadata for these ranges, the management of the ranges included.
    pub(super) fn metadata_bytes(ranges: impl Iterator<Item = PfnRange>) -> u64 {
        let (count, bytes) = ranges.fold((0, 0_u64), |(count, bytes), range| {
            (count + 1, bytes.saturating_add(F::metadata_bytes(range)))
        });
        bytes
            .saturating_add(RawMemory::bytes_for::<PfnRange>(count))
            .saturating_add(RawMemory::bytes_for::<PhysRange>(managed_slots(count)))
            .saturating_add(RawMemory::bytes_for::<F>(count))
    }

    /// All frames reserved. `ranges` are `count` ranges, ascending, disjoint, and not empty.
    /// `None` when the memory does not suffice.
    pub(super) fn new(
        span: PfnRange,
        count: u64,
        mut ranges: impl Iterator<Item = PfnRange>,
        mut memory: RawMemory<'m>,
    ) -> Option<Self> {
        let slots = memory.slice(managed_slots(count), |_| Some(PhysRange::default()))?;
        let ranges: &'m [PfnRange] = memory.slice(count, |_| ranges.next())?;
        let mut array = memory.cut(RawMemory::bytes_for::<F>(count))?;
        let areas = array.slice(count, |at| F::new(*ranges.get(at as usize)?, &mut memory))?;
        Some(Areas { span, ranges, areas, managed: RegionList::new(slots), free: 0 })
    }

    /// Ranges with RAM, ascending.
    pub(super) fn ranges(&self) -> &'m [PfnRange] {
        self.ranges
    }

    /// Free frames.
    pub(super) fn free(&self) -> u64 {
        self.free
    }

    /// Free blocks of exactly this order.
    pub(super) fn blocks(&self, order: Order) -> u64 {
        self.areas.iter().map(|area| area.blocks(order)).sum()
    }

    /// Whether this frame is free.
    pub(super) fn is_free(&self, frame: Pfn) -> bool {
        area_of(self.ranges, frame)
            .and_then(|at| self.areas.get(at))
            .is_some_and(|area| area.is_free(frame))
    }

    /// Whether this frame was released.
    pub(super) fn is_managed(&self, frame: Pfn) -> bool {
        self.span.contains(frame) && self.managed.containing(frame.addr()).is_some()
    }

    /// Takes a block of the smallest order that will do, the lowest of these.
    pub(super) fn take(&mut self, order: Order) -> Option<Pfn> {
        let area = match &mut *self.areas {
            [only] => only,
            // `min_by_key` keeps the first of equals.
            areas => areas
                .iter_mut()
                .filter_map(|area| area.smallest(order).map(|smallest| (smallest, area)))
                .min_by_key(|&(smallest, _)| smallest)
                .map(|(_, area)| area)?,
        };
        let block = area.take(order)?;
        self.free -= order.pages();
        Some(block)
    }

    /// Puts a block back.
    pub(super) fn put(&mut self, block: Pfn, order: Order) -> Result<(), FreeError> {
        if !block.is_aligned(order) {
            return Err(FreeError::Misaligned { pfn: block, order });
        }
        let area = match self.unmanaged_in(block, order.pages()) {
            Some(pfn) if !self.span.contains(pfn) => return Err(FreeError::OutOfRange { pfn }),
            Some(pfn) if area_of(self.ranges, pfn).is_none() => {
                return Err(FreeError::Hole { pfn });
            }
            Some(pfn) => return Err(FreeError::Reserved { pfn }),
            None => area_of(self.ranges, block).and_then(|at| self.areas.get_mut(at)),
        };
        area.ok_or(FreeError::Hole { pfn: block })?.put(block, order)?;
        self.free += order.pages();
        Ok(())
    }

    /// Takes reserved frames of one range over, in maximal aligned blocks, ascending.
    pub(super) fn release(&mut self, frames: PfnRange) -> Result<(), ReleaseError> {
        if frames.is_empty() {
            return Ok(());
        }
        let last = Pfn(frames.end.0 - 1);
        for pfn in [frames.start, last] {
            if !self.span.contains(pfn) || pfn == Pfn(0) {
                return Err(ReleaseError::OutOfRange { pfn });
            }
        }
        let at =
            area_of(self.ranges, frames.start).ok_or(ReleaseError::Hole { pfn: frames.start })?;
        if !self.ranges[at].contains(last) {
            return Err(ReleaseError::Hole { pfn: self.ranges[at].end });
        }
        if let Some(taken) = self.managed.first_after(frames.start.addr())
            && taken.start < frames.end.addr()
        {
            return Err(ReleaseError::Managed { pfn: taken.start.pfn().max(frames.start) });
        }
        self.managed.insert(frames.bytes()).map_err(|_| ReleaseError::TooManyRanges)?;
        let mut start = frames.start;
        while start < frames.end {
            let order = largest_block(start, frames.end);
            // A frame that was never released is in no free block, so this cannot fail.
            let put = self.areas[at].put(start, order);
            debug_assert_eq!(put, Ok(()));
            start = start + order.pages();
        }
        self.free += frames.len();
        Ok(())
    }

    /// The lowest frame of a block that was not released.
    fn unmanaged_in(&self, block: Pfn, frames: u64) -> Option<Pfn> {
        // Frames beyond the span have no address, perhaps; and in the span none overflows.
        if !self.span.contains(block) {
            return Some(block);
        }
        match self.managed.containing(block.addr()) {
            Some(range) if range.end.pfn() - block >= frames => None,
            Some(range) => Some(range.end.pfn()),
            None => Some(block),
        }
    }
}

/// The range that holds `frame`, as an index.
pub(super) fn area_of(ranges: &[PfnRange], frame: Pfn) -> Option<usize> {
    let at = ranges.partition_point(|range| range.end <= frame);
    ranges.get(at).filter(|range| range.contains(frame)).map(|_| at)
}

/// The order of the largest block that begins at `start` and ends by `end`, which is above it.
fn largest_block(start: Pfn, end: Pfn) -> Order {
    Order::all()
        .rev()
        .find(|&order| start.is_aligned(order) && order.pages() <= end - start)
        .unwrap_or(Order::ZERO)
}
