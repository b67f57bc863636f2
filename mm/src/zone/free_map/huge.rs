//! Orders 9 and 10: one or two whole blocks, by their entries alone.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::area::Area;
use super::entry::BLOCK_FRAMES;
use super::region::{REGION_BLOCKS, RegionWord};
use crate::ids::CpuId;
use crate::units::{Order, Pfn};
use crate::zone::Cursor;

impl<'m> FreeMap<'m> {
    /// Takes one whole block or an aligned pair. Regions that another CPU prefers come last, after
    /// those that were never used.
    pub(super) fn huge(&self, cpu: CpuId, cursor: &Cursor, order: Order) -> Option<Pfn> {
        let wanted = (order.pages() / u64::from(BLOCK_FRAMES)) as usize;
        let enough = move |word: RegionWord| word.whole() as usize >= wanted;
        let (area, region) = cursor.huge();
        let here = self.areas.get(area).and_then(|area| take_in(area, region, wanted));
        if here.is_some() {
            return here;
        }
        let lowest = |open: &dyn Fn(RegionWord) -> bool| {
            self.areas.iter().enumerate().find_map(|(at, area)| {
                area.words()
                    .filter(|&(_, word)| enough(word) && open(word))
                    .find_map(|(region, _)| Some((at, region, take_in(area, region, wanted)?)))
            })
        };
        let unused = || {
            self.areas.iter().enumerate().find_map(|(at, area)| {
                core::iter::from_fn(|| self.first_use(area))
                    .find_map(|region| Some((at, region, take_in(area, region, wanted)?)))
            })
        };
        let (area, region, pfn) =
            lowest(&|word| word.is_open_to(cpu)).or_else(unused).or_else(|| lowest(&|_| true))?;
        cursor.set_huge(area, region);
        Some(pfn)
    }
}

/// Takes `wanted` whole blocks, 1 or 2, of one region; two are an aligned pair.
fn take_in(area: &Area<'_>, region: usize, wanted: usize) -> Option<Pfn> {
    let blocks = area.region(region)?;
    for at in (0..REGION_BLOCKS).step_by(wanted) {
        let block = blocks.block(at)?;
        if !block.entry().is_whole() {
            continue;
        }
        if wanted == 1 {
            if block.take_whole() {
                return Some(area.start_of(region * REGION_BLOCKS + at));
            }
            continue;
        }
        let Some(other) = blocks.block(at + 1).filter(|other| other.entry().is_whole()) else {
            continue;
        };
        if !block.take_whole() {
            continue;
        }
        if other.take_whole() {
            return Some(area.start_of(region * REGION_BLOCKS + at));
        }
        // Another CPU took the upper half meanwhile. Cannot fail: the lower one is ours.
        let _ = block.put(0, BLOCK_FRAMES);
    }
    None
}
