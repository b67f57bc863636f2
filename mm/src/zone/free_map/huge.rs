//! Orders 9 and 10: one or two whole blocks, by their entries alone.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::area::{Area, Region};
use super::entry::BLOCK_FRAMES;
use super::region::{REGION_BLOCKS, RegionWord};
use crate::ids::CpuId;
use crate::units::{Order, Pfn};
use crate::zone::Cursor;

impl<'m> FreeMap<'m> {
    /// Takes one whole block or an aligned pair. What follows the block that this CPU took last in
    /// its region comes first, and that block itself if it is free again; regions that another CPU
    /// prefers come last, after those that were never used.
    pub(super) fn huge(&self, cpu: CpuId, cursor: &Cursor, order: Order) -> Option<Pfn> {
        let pair = order == Order::MAX;
        let (at, block) = cursor.huge();
        let here = self.areas.get(at).and_then(|area| take_from(area, block, pair));
        let (at, area, block) = match here {
            Some(block) => (at, self.areas.get(at)?, block),
            None => self.huge_elsewhere(cpu, pair)?,
        };
        cursor.set_huge(at, block);
        Some(area.start_of(block))
    }

    #[inline(never)]
    fn huge_elsewhere(&self, cpu: CpuId, pair: bool) -> Option<(usize, &'m Area<'m>, usize)> {
        let wanted = if pair { 2 } else { 1 };
        let take_in = |area, region| take_from(area, region * REGION_BLOCKS, pair);
        let lowest = |open: &dyn Fn(RegionWord) -> bool| {
            self.areas.iter().enumerate().find_map(|(at, area)| {
                area.words(0..usize::MAX)
                    .filter(|&(_, word)| word.whole() >= wanted && open(word))
                    .find_map(|(region, _)| Some((at, area, take_in(area, region)?)))
            })
        };
        let unused = || {
            self.areas.iter().enumerate().find_map(|(at, area)| {
                core::iter::from_fn(|| self.first_use(area))
                    .find_map(|region| Some((at, area, take_in(area, region)?)))
            })
        };
        lowest(&|word| word.is_open_to(cpu)).or_else(unused).or_else(|| lowest(&|_| true))
    }
}

/// Takes a whole block, or an aligned pair of them: the lowest from `first` to the end of its region.
#[inline]
fn take_from(area: &Area<'_>, first: usize, pair: bool) -> Option<usize> {
    let region = area.region(first / REGION_BLOCKS)?;
    let from = first % REGION_BLOCKS;
    let taken = if pair {
        (from / 2..REGION_BLOCKS / 2).map(|pair| pair * 2).find(|&at| take_pair(region, at))
    } else {
        (from..REGION_BLOCKS).find(|&at| {
            region.block(at).is_some_and(|block| block.entry().is_whole() && block.take_whole())
        })
    };
    taken.map(|at| first - from + at)
}

/// Takes two whole blocks, the lower at an even place.
fn take_pair(region: Region<'_>, at: usize) -> bool {
    let (Some(lower), Some(upper)) = (region.block(at), region.block(at + 1)) else { return false };
    if !lower.entry().is_whole() || !upper.entry().is_whole() || !lower.take_whole() {
        return false;
    }
    let taken = upper.take_whole();
    if !taken {
        // Another CPU took the upper half meanwhile. Cannot fail: the lower one is ours.
        let _ = lower.put(0, BLOCK_FRAMES);
    }
    taken
}
