//! A region's first use, and frames that are released before and after it.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::area::{Area, REGION_FRAMES, Region};
use super::entry::{BLOCK_FRAMES, Entry};
use super::region::{REGION_BLOCKS, RegionWord};
use super::row::part_of;
use crate::sync::Ordering::Relaxed;
use crate::units::PfnRange;
use crate::zone::managed::Managed;

impl<'m> FreeMap<'m> {
    /// Initialises the next region of an area and says which one it is; `None` when all are
    /// initialised. The zone's sum has its frames already.
    pub(super) fn first_use(&self, area: &Area<'m>) -> Option<usize> {
        let managed = self.managed.lock();
        let at = area.frontier();
        let region = area.any_region(at)?;
        initialise(area, at, region, &managed);
        area.set_frontier(at + 1);
        Some(at)
    }
}

/// Writes the word and the entries of a region, and the rows of blocks that are managed in part.
/// Nobody else sees them before the frontier moves.
fn initialise(area: &Area<'_>, at: usize, region: Region<'_>, managed: &Managed<'_>) {
    let reach = area.reach(at);
    let all = reach.len() == REGION_FRAMES && managed.has_all(reach.start, reach.len());
    if all {
        region.entries.iter().for_each(|entry| entry.store(Entry::WHOLE.0, Relaxed));
        let word = RegionWord::new(REGION_FRAMES as u32, REGION_BLOCKS as u32);
        region.word.store(word.0, Relaxed);
        return;
    }
    let (mut free, mut whole) = (0, 0);
    for (place, entry) in region.entries.iter().enumerate() {
        let start = area.start_of(at * REGION_BLOCKS + place);
        let frames = area.reach_of_block(at * REGION_BLOCKS + place);
        let count = managed.within(frames).map(PfnRange::len).sum::<u64>() as u16;
        let state = match (count, region.block(place)) {
            (0, _) | (_, None) => Entry::RESERVED,
            (BLOCK_FRAMES, _) => Entry::WHOLE,
            (_, Some(block)) => {
                block.write_rows(|row| {
                    managed.within(frames).fold(0, |bits, part| {
                        bits | part_of(row, (part.start - start) as u32, part.len() as u32)
                    })
                });
                Entry::written(count, true)
            }
        };
        free += u32::from(state.count());
        whole += u32::from(state.is_whole());
        entry.store(state.0, Relaxed);
    }
    region.word.store(RegionWord::new(free, whole).0, Relaxed);
}

impl Area<'_> {
    /// Makes frames free that are on the list of managed ranges now, where regions are initialised;
    /// elsewhere the list is enough. The caller has the list's lock.
    pub(super) fn open(&self, frames: PfnRange, managed: &Managed<'_>) {
        for part in self.parts(frames) {
            let Some(block) = self.block(part.block) else { return };
            let reach = self.reach_of_block(part.block);
            let whole = reach.len() == u64::from(BLOCK_FRAMES);
            let all = whole && managed.has_all(reach.start, reach.len());
            block.open(part.first, part.count, !all);
        }
    }

    /// What of the area is above the frontier.
    pub(super) fn unused(&self) -> PfnRange {
        let start = self.start_of(self.frontier() * REGION_BLOCKS);
        PfnRange { start, end: self.frames().end }.intersect(self.frames())
    }

    /// What of the area is below the frontier.
    pub(super) fn used(&self) -> PfnRange {
        let end = self.start_of(self.frontier() * REGION_BLOCKS);
        PfnRange { start: self.frames().start, end }.intersect(self.frames())
    }
}
