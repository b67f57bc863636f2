//! Where a CPU takes frames: its own block, its region, another region.
//!
//! Small blocks are packed, so that whole blocks stay whole: partly free blocks come first, the
//! lowest of the CPU's region and then those of the next ones; a whole block is broken when none is
//! found. Regions that another CPU prefers come last, and before them those that were never used.
#![forbid(unsafe_code)]

use core::ops::Range;

use super::FreeMap;
use super::area::{Area, Region};
use super::block::Block;
use super::entry::Entry;
use super::region::{REGION_BLOCKS, RegionWord};
use crate::ids::CpuId;
use crate::sync::{Ordering::Relaxed, relax};
use crate::units::Pfn;
use crate::zone::Cursor;

/// A region with fewer free frames than this is left alone as long as there are others.
const AMPLE: u32 = 64;
/// In how many regions a run is sought among partly free blocks before a whole block is broken.
const TRIES: usize = 4;
/// How many regions' words are looked at for that, and for a whole block before regions that were
/// never used: so that it takes no longer in a large zone.
const SCAN: usize = 64;

/// Which blocks of a region are tried.
#[derive(Clone, Copy)]
enum Blocks {
    Partly,
    Whole,
    Any,
}

impl Blocks {
    fn admit(self, entry: Entry, frames: u16) -> bool {
        match self {
            Blocks::Partly => entry.has_rows() && !entry.is_whole() && entry.count() >= frames,
            Blocks::Whole => entry.is_whole(),
            Blocks::Any => entry.count() >= frames,
        }
    }
}

/// One search: what is tried on each block that may do. It is given the block and its first frame.
struct Search<F> {
    frames: u16,
    attempt: F,
    /// A block was passed over because its rows were being written.
    busy: bool,
}

/// A place that gave something.
struct Found<R> {
    block: usize,
    result: R,
}

impl<'m> FreeMap<'m> {
    /// Runs `attempt` on blocks with `frames` free frames, 1 to 256, until one gives something.
    #[inline]
    pub(super) fn small<R>(
        &self,
        cpu: CpuId,
        cursor: &Cursor,
        frames: u16,
        mut attempt: impl FnMut(Block<'m>, Pfn) -> Option<R>,
    ) -> Option<R> {
        let (area, block) = cursor.small();
        if let Some(area) = self.areas.get(area)
            && let Some(here) = area.block(block)
            && let Some(result) = attempt(here, area.start_of(block))
        {
            return Some(result);
        }
        self.elsewhere(cpu, cursor, Search { frames, attempt, busy: false })
    }

    #[inline(never)]
    fn elsewhere<R>(
        &self,
        cpu: CpuId,
        cursor: &Cursor,
        mut search: Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
    ) -> Option<R> {
        let enough = u32::from(search.frames).max(AMPLE);
        let some = u32::from(search.frames);
        let partly = |word: RegionWord| word.is_open_to(cpu) && word.partial() >= enough;
        let whole = |word: RegionWord| word.is_open_to(cpu) && word.whole() > 0;
        let ample = |word: RegionWord| word.free() >= enough;
        let any = |word: RegionWord| word.free() >= some;
        let found = self
            .own(cursor, &mut search)
            .or_else(|| self.around(cursor, &mut search, partly, Blocks::Partly, SCAN, TRIES))
            .or_else(|| self.around(cursor, &mut search, whole, Blocks::Whole, SCAN, TRIES))
            .or_else(|| self.unused(&mut search))
            .or_else(|| self.around(cursor, &mut search, ample, Blocks::Any, usize::MAX, TRIES));
        let (area, found) = found.or_else(|| {
            loop {
                search.busy = false;
                let found =
                    self.around(cursor, &mut search, any, Blocks::Any, usize::MAX, usize::MAX);
                if found.is_some() || !search.busy {
                    return found;
                }
                // What is being split there may be all that is left.
                relax();
            }
        })?;
        self.settle(cpu, cursor, area, found.block);
        Some(found.result)
    }

    /// In partly free blocks of the region that the cursor is in, however few frames they have.
    fn own<R>(
        &self,
        cursor: &Cursor,
        search: &mut Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
    ) -> Option<(usize, Found<R>)> {
        let (at, block) = cursor.small();
        let area = self.areas.get(at)?;
        let here = block / REGION_BLOCKS;
        area.region(here).filter(|region| region.word().partial() >= u32::from(search.frames))?;
        search.region(area, here, Blocks::Partly).map(|found| (at, found))
    }

    /// In regions whose word will do, from the one that the cursor is in upward and around: at most
    /// `tries` of the `scan` next ones.
    fn around<R>(
        &self,
        cursor: &Cursor,
        search: &mut Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
        wanted: impl Fn(RegionWord) -> bool,
        blocks: Blocks,
        scan: usize,
        tries: usize,
    ) -> Option<(usize, Found<R>)> {
        let (at, block) = cursor.small();
        let here = block / REGION_BLOCKS;
        let (lower, upper) = self.areas.split_at_checked(at)?;
        let (own, upper) = upper.split_first()?;
        let others = (at + 1..).zip(upper).chain((0..).zip(lower));
        let words_of = |(at, area): (usize, &'m Area<'m>), regions: Range<usize>| {
            area.words(regions).map(move |(region, word)| (at, area, region, word))
        };
        words_of((at, own), here..usize::MAX)
            .chain(others.flat_map(|area| words_of(area, 0..usize::MAX)))
            .chain(words_of((at, own), 0..here))
            .take(scan)
            .filter(|&(.., word)| wanted(word))
            .take(tries)
            .find_map(|(at, area, region, _)| {
                search.region(area, region, blocks).map(|found| (at, found))
            })
    }

    /// In regions that are used for the first time.
    fn unused<R>(
        &self,
        search: &mut Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
    ) -> Option<(usize, Found<R>)> {
        self.areas.iter().enumerate().find_map(|(at, area)| {
            core::iter::from_fn(|| self.first_use(area))
                .find_map(|region| search.region(area, region, Blocks::Any))
                .map(|found| (at, found))
        })
    }

    /// Moves the cursor. The region becomes this CPU's own, unless another prefers it; the one
    /// before it does not stay so.
    fn settle(&self, cpu: CpuId, cursor: &Cursor, area: usize, block: usize) {
        let (old_area, old_block) = cursor.small();
        cursor.set_small(area, block);
        let (old_region, region) = (old_block / REGION_BLOCKS, block / REGION_BLOCKS);
        if (old_area, old_region) == (area, region) {
            return;
        }
        if let Some(old) = self.areas.get(old_area).and_then(|area| area.region(old_region)) {
            old.change_hint(|word| word.is_of(cpu).then(|| word.without_owner()));
        }
        if let Some(new) = self.areas.get(area).and_then(|area| area.region(region)) {
            new.change_hint(|word| word.is_open_to(cpu).then(|| word.owned_by(cpu)));
        }
    }
}

impl<F> Search<F> {
    /// In one region, lowest block first.
    fn region<'m, R>(&mut self, area: &'m Area<'m>, at: usize, blocks: Blocks) -> Option<Found<R>>
    where
        F: FnMut(Block<'m>, Pfn) -> Option<R>,
    {
        for (place, block) in (at * REGION_BLOCKS..).zip(area.region(at)?.blocks()) {
            let entry = block.entry();
            self.busy |= entry.is_busy();
            if blocks.admit(entry, self.frames)
                && let Some(result) = (self.attempt)(block, area.start_of(place))
            {
                return Some(Found { block: place, result });
            }
        }
        None
    }
}

impl Region<'_> {
    /// Changes the owner in the word. Relaxed: a hint.
    fn change_hint(self, change: impl Fn(RegionWord) -> Option<RegionWord>) {
        let _ = self
            .word
            .fetch_update(Relaxed, Relaxed, |word| change(RegionWord(word)).map(|word| word.0));
    }
}
