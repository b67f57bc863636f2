//! Which frames of a zone were released to it. As ranges and not as bits: there are few.
#![forbid(unsafe_code)]

use super::{FreeError, RawMemory, ReleaseError};
use crate::memblock::RegionList;
use crate::units::{Pfn, PfnRange, PhysRange};

/// The list of managed ranges.
#[derive(Debug)]
pub(super) struct Managed<'m> {
    /// The zone, holes included.
    span: PfnRange,
    /// Ranges with RAM, ascending.
    ranges: &'m [PfnRange],
    list: RegionList<'m>,
}

/// The list has no room for another part.
pub(super) struct TooManyRanges;

impl<'m> Managed<'m> {
    /// Bytes for so many separate parts.
    pub(super) fn bytes_for(parts: u64) -> u64 {
        parts.saturating_mul(size_of::<PhysRange>() as u64)
    }

    /// No frame is managed. The list has room for as many parts as there is memory, and at least one
    /// for each range; `None` when the memory does not suffice.
    pub(super) fn new(
        span: PfnRange,
        ranges: &'m [PfnRange],
        mut memory: RawMemory<'m>,
    ) -> Option<Managed<'m>> {
        let room = memory.room_for::<PhysRange>();
        if room < ranges.len() as u64 {
            return None;
        }
        let slots = memory.packed(room, |_| Some(PhysRange::default()))?;
        Some(Managed { span, ranges, list: RegionList::new(slots) })
    }

    /// Whether this frame was released.
    pub(super) fn contains(&self, frame: Pfn) -> bool {
        self.has_all(frame, 1)
    }

    /// Whether these frames were released, all of them.
    pub(super) fn has_all(&self, first: Pfn, frames: u64) -> bool {
        self.lowest_missing(first, frames).is_none()
    }

    /// What of a range was released, ascending.
    pub(super) fn within(&self, frames: PfnRange) -> impl Iterator<Item = PfnRange> + '_ {
        let mut rest = frames;
        core::iter::from_fn(move || {
            let part = self.list.first_after(rest.start.addr())?.whole_frames().intersect(rest);
            rest.start = part.end;
            (!part.is_empty()).then_some(part)
        })
    }

    /// Why these frames cannot be put back, if one of them was never released.
    pub(super) fn refusal(&self, first: Pfn, frames: u64) -> Option<FreeError> {
        let pfn = self.lowest_missing(first, frames)?;
        Some(if !self.span.contains(pfn) {
            FreeError::OutOfRange { pfn }
        } else if range_of(self.ranges, pfn).is_none() {
            FreeError::Hole { pfn }
        } else {
            FreeError::Reserved { pfn }
        })
    }

    /// Adds reserved frames of one range; says of which one, as an index. Nothing changes on an
    /// error.
    pub(super) fn release(&mut self, frames: PfnRange) -> Result<usize, ReleaseError> {
        let last = Pfn(frames.end.0 - 1);
        for pfn in [frames.start, last] {
            if !self.span.contains(pfn) || pfn == Pfn(0) {
                return Err(ReleaseError::OutOfRange { pfn });
            }
        }
        let at =
            range_of(self.ranges, frames.start).ok_or(ReleaseError::Hole { pfn: frames.start })?;
        if !self.ranges[at].contains(last) {
            return Err(ReleaseError::Hole { pfn: self.ranges[at].end });
        }
        if let Some(taken) = self.within(frames).next() {
            return Err(ReleaseError::Managed { pfn: taken.start });
        }
        self.list.insert(frames.bytes()).map_err(|_| ReleaseError::TooManyRanges)?;
        Ok(at)
    }

    /// Takes managed frames off the list. Nothing changes when it would have too many parts.
    pub(super) fn remove(&mut self, frames: PfnRange) -> Result<(), TooManyRanges> {
        self.list.remove(frames.bytes()).map_err(|_| TooManyRanges)
    }

    /// The highest of these frames that was not released.
    pub(super) fn last_missing(&self, frames: PfnRange) -> Option<Pfn> {
        self.list.gaps(frames.bytes()).last().map(|gap| Pfn(gap.end.pfn().0 - 1))
    }

    /// The lowest of these frames that was not released.
    fn lowest_missing(&self, first: Pfn, frames: u64) -> Option<Pfn> {
        // Frames beyond the span have no address, perhaps; and in the span none overflows.
        if !self.span.contains(first) {
            return Some(first);
        }
        match self.list.containing(first.addr()) {
            Some(range) if range.end.pfn() - first >= frames => None,
            Some(range) => Some(range.end.pfn()),
            None => Some(first),
        }
    }
}

/// The range that holds `frame`, as an index.
pub(super) fn range_of(ranges: &[PfnRange], frame: Pfn) -> Option<usize> {
    let at = ranges.partition_point(|range| range.end <= frame);
    ranges.get(at).filter(|range| range.contains(frame)).map(|_| at)
}
