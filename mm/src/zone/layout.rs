//! A zone's metadata, as every structure of free frames begins it: the ranges, the list of managed
//! ones, and for each range what keeps its free frames.
#![forbid(unsafe_code)]

use super::RawMemory;
use super::managed::Managed;
use crate::units::PfnRange;

/// The parts, cut from the zone's metadata. `A` is what a range has.
pub(super) struct Layout<'m, A> {
    /// Ranges with RAM, ascending.
    pub(super) ranges: &'m [PfnRange],
    /// No frame is managed yet.
    pub(super) managed: Managed<'m>,
    /// One for each range.
    pub(super) areas: &'m mut [A],
}

impl<'m, A> Layout<'m, A> {
    /// Bytes of metadata for a zone of these ranges; `of_range` says how many the arrays of a range
    /// take.
    pub(super) fn bytes(
        ranges: impl Iterator<Item = PfnRange>,
        of_range: impl Fn(PfnRange) -> u64,
    ) -> u64 {
        let (count, bytes) = ranges.fold((0, 0_u64), |(count, bytes), range| {
            (count + 1, bytes.saturating_add(of_range(range)))
        });
        bytes
            .saturating_add(RawMemory::bytes_for::<PfnRange>(count))
            .saturating_add(RawMemory::bytes_for::<A>(count))
            .saturating_add(Managed::metadata_bytes(count))
    }

    /// Cuts the parts for `count` ranges; `area` makes what a range has, of the memory behind them.
    /// `None` when the memory does not suffice.
    pub(super) fn new(
        span: PfnRange,
        count: u64,
        mut ranges: impl Iterator<Item = PfnRange>,
        mut memory: RawMemory<'m>,
        mut area: impl FnMut(PfnRange, &mut RawMemory<'m>) -> Option<A>,
    ) -> Option<Layout<'m, A>> {
        let ranges: &'m [PfnRange] = memory.slice(count, |_| ranges.next())?;
        let managed = Managed::new(span, ranges, &mut memory)?;
        let mut array = memory.cut(RawMemory::bytes_for::<A>(count))?;
        let areas = array.slice(count, |at| area(*ranges.get(at as usize)?, &mut memory))?;
        Some(Layout { ranges, managed, areas })
    }
}
