//! Where a CPU takes frames: its own block, its region, another region.
//!
//! Small blocks are packed, so that whole blocks stay whole: partly free blocks come first, the
//! lowest of the CPU's region and then those of the lowest regions; a whole block is broken when
//! none is found. Regions that another CPU prefers come last, and before them those that were never
//! used.
#![forbid(unsafe_code)]

use core::ops::Range;

use super::FreeMap;
use super::area::{Area, Region};
use super::block::Block;
use super::entry::{BLOCK_FRAMES, Entry, EntryRange};
use super::lowest::AMPLE;
use super::region::{REGION_BLOCKS, RegionWord};
use crate::ids::CpuId;
use crate::sync::{Ordering::Acquire, Ordering::Relaxed, relax};
use crate::units::Pfn;
use crate::zone::Cursor;

/// In how many regions something is sought before others are asked.
const TRIES: usize = 4;
/// How many regions are looked at for a partly free block before a whole one is broken: so that it
/// takes no longer in a large zone.
const WINDOW: usize = 64;

/// Which blocks of a region are tried.
#[derive(Clone, Copy)]
enum Blocks {
    Partly,
    Whole,
    Any,
}

impl Blocks {
    /// Those of them that have so many free frames.
    fn with(self, frames: u16) -> EntryRange {
        match self {
            Blocks::Partly => EntryRange::partly(frames),
            Blocks::Whole => EntryRange::any(BLOCK_FRAMES),
            Blocks::Any => EntryRange::any(frames),
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
        let whole = |word: RegionWord| word.is_open_to(cpu) && word.whole() > 0;
        let ample = |word: RegionWord| word.free() >= enough;
        let any = |word: RegionWord| word.free() >= some;
        let found = self
            .own(cursor, &mut search, Blocks::Partly)
            .or_else(|| self.window(cpu, cursor, &mut search, enough))
            .or_else(|| self.unused(&mut search))
            .or_else(|| self.around(cursor, &mut search, whole, Blocks::Whole, TRIES))
            .or_else(|| self.around(cursor, &mut search, ample, Blocks::Any, TRIES));
        let (area, found) = found.or_else(|| {
            loop {
                search.busy = false;
                let found = self.around(cursor, &mut search, any, Blocks::Any, usize::MAX);
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

    /// In the region that the cursor is in, however few frames its blocks have.
    fn own<R>(
        &self,
        cursor: &Cursor,
        search: &mut Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
        blocks: Blocks,
    ) -> Option<(usize, Found<R>)> {
        let (at, block) = cursor.small();
        let area = self.areas.get(at)?;
        let here = block / REGION_BLOCKS;
        let word = area.region(here)?.word();
        let has_some = match blocks {
            Blocks::Partly => word.partial() >= u32::from(search.frames),
            Blocks::Whole | Blocks::Any => word.whole() > 0,
        };
        has_some.then(|| search.region(area, here, blocks).map(|found| (at, found)))?
    }

    /// In a partly free block of the lowest regions that have room, or else in the first whole one
    /// of this CPU's region or of those.
    fn window<R>(
        &self,
        cpu: CpuId,
        cursor: &Cursor,
        search: &mut Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
        enough: u32,
    ) -> Option<(usize, Found<R>)> {
        let mut whole = None;
        let (mut lowest, mut found) = ((0, 0), false);
        let mut tries = TRIES;
        let (at, region) = self.lowest.get();
        let mut next = self.words_from(at, region).take(WINDOW);
        let partly = next.find_map(|(at, area, region, word)| {
            if !found {
                (lowest, found) = ((at, region), word.partial() >= AMPLE);
            }
            if !word.is_open_to(cpu) {
                return None;
            }
            if word.whole() > 0 && whole.is_none() {
                whole = Some((at, area, region));
            }
            if word.partial() < enough || tries == 0 {
                return None;
            }
            tries -= 1;
            search.region(area, region, Blocks::Partly).map(|found| (at, found))
        });
        self.lowest.raise(lowest.0, lowest.1);
        partly.or_else(|| self.own(cursor, search, Blocks::Whole)).or_else(|| {
            let (at, area, region) = whole?;
            search.region(area, region, Blocks::Whole).map(|found| (at, found))
        })
    }

    /// In regions whose word will do, at most `tries` of them, from the one that the cursor is in
    /// upward and around.
    fn around<R>(
        &self,
        cursor: &Cursor,
        search: &mut Search<impl FnMut(Block<'m>, Pfn) -> Option<R>>,
        wanted: impl Fn(RegionWord) -> bool,
        blocks: Blocks,
        tries: usize,
    ) -> Option<(usize, Found<R>)> {
        let (at, block) = cursor.small();
        let words = self.words_from(at, block / REGION_BLOCKS);
        let mut words = words.filter(|&(.., word)| wanted(word)).take(tries);
        words.find_map(|(at, area, region, _)| {
            search.region(area, region, blocks).map(|found| (at, found))
        })
    }

    /// Areas, regions and their words, from this one upward and around.
    fn words_from(
        &self,
        at: usize,
        here: usize,
    ) -> impl Iterator<Item = (usize, &'m Area<'m>, usize, RegionWord)> + use<'m> {
        let areas = self.areas;
        let words_of = move |at: usize, regions: Range<usize>| {
            let area = areas.get(at).into_iter();
            area.flat_map(move |area| {
                area.words(regions.clone()).map(move |(region, word)| (at, area, region, word))
            })
        };
        let all = 0..usize::MAX;
        words_of(at, here..usize::MAX)
            .chain((at + 1..areas.len()).chain(0..at).flat_map(move |at| words_of(at, all.clone())))
            .chain(words_of(at, 0..here))
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
        let region = area.region(at)?;
        let wanted = blocks.with(self.frames);
        let mut seen = 0;
        for (place, entry) in region.entries.iter().enumerate() {
            // Acquire: rows that it calls written are seen as written.
            let entry = Entry(entry.load(Acquire));
            seen |= entry.0;
            if wanted.has(entry)
                && let Some(block) = region.block(place)
                && let place = at * REGION_BLOCKS + place
                && let Some(result) = (self.attempt)(block, area.start_of(place))
            {
                return Some(Found { block: place, result });
            }
        }
        self.busy |= Entry(seen).is_busy();
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
