//! A zone's metadata, as every structure of free frames begins it: the ranges, the list of managed
//! ones, and for each range what keeps its free frames.
#![forbid(unsafe_code)]

use super::RawMemory;
use super::managed::Managed;
use crate::units::PfnRange;

/// The parts, cut from the zone's metadata: the arrays of the ranges, and behind them what is small,
/// the list last but for that. `A` is what a range has.
pub(super) struct Layout<'m, A> {
    /// Ranges with RAM, ascending.
    pub(super) ranges: &'m [PfnRange],
    /// No frame is managed yet.
    pub(super) managed: Managed<'m>,
    /// One for each range.
    pub(super) areas: &'m mut [A],
}

impl<'m, A> Layout<'m, A> {
    /// Bytes of metadata for a zone of these ranges, all of whose frames are released; `of_range` says
    /// how many the arrays of a range take, a multiple of 64. More are for the list of managed ranges.
    pub(super) fn bytes(
        ranges: impl Iterator<Item = PfnRange>,
        of_range: impl Fn(PfnRange) -> u64,
    ) -> u64 {
        let (count, bytes) = ranges.fold((0, 0_u64), |(count, bytes), range| {
            (count + 1, bytes.saturating_add(of_range(range)))
        });
        bytes.saturating_add(Self::small(count)).saturating_add(Managed::bytes_for(count))
    }

    /// Bytes of the ranges and of what they have, without their arrays.
    fn small(count: u64) -> u64 {
        count.saturating_mul((size_of::<PfnRange>() + size_of::<A>()) as u64)
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
        let mut small = memory.tail(Self::small(count))?;
        let ranges: &'m [PfnRange] = small.packed(count, |_| ranges.next())?;
        let areas = small.packed(count, |at| area(*ranges.get(at as usize)?, &mut memory))?;
        let managed = Managed::new(span, ranges, memory)?;
        Some(Layout { ranges, managed, areas })
    }
}
