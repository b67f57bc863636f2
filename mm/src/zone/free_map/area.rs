//! One contiguous range of a zone: the arrays that describe it, and how far they are initialised.

use core::ops::Range;

use super::block::{Block, Rows};
use super::entry::BLOCK_FRAMES;
use super::region::{REGION_BLOCKS, RegionWord};
use crate::sync::{AtomicU16, AtomicU32, AtomicUsize, Ordering};
use crate::units::{Order, Pfn, PfnRange};
use crate::zone::RawMemory;

/// Frames of a region, of 64 MiB.
pub(super) const REGION_FRAMES: u64 = REGION_BLOCKS as u64 * BLOCK_FRAMES as u64;

/// The entries of a region: one cache line.
pub(super) type Entries = [AtomicU16; REGION_BLOCKS];

/// The arrays of one contiguous range. They begin with garbage: below the frontier region words
/// and entries are initialised, and the entries say which rows are.
pub struct Area<'m> {
    frames: PfnRange,
    /// The start aligned down to the largest block: frame 0 of block 0.
    base: Pfn,
    rows: &'m [Rows],
    entries: &'m [Entries],
    regions: &'m [AtomicU32],
    /// Regions that are initialised. Written under the lock of the list of managed ranges.
    frontier: AtomicUsize,
}

/// What one region has.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    pub(super) word: &'a AtomicU32,
    pub(super) entries: &'a Entries,
    /// Of the blocks that the area reaches, at most 32.
    pub(super) rows: &'a [Rows],
}

impl<'a> Region<'a> {
    /// The word.
    pub(super) fn word(self) -> RegionWord {
        // Relaxed: a sum to decide with, which promises nothing.
        RegionWord(self.word.load(Ordering::Relaxed))
    }

    /// One block, 0 to 31; none beyond the area.
    pub(super) fn block(self, at: usize) -> Option<Block<'a>> {
        Some(Block::new(self.entries.get(at)?, self.rows.get(at)?, self.word))
    }

    /// All blocks, ascending.
    pub(super) fn blocks(self) -> impl DoubleEndedIterator<Item = Block<'a>> {
        self.entries
            .iter()
            .zip(self.rows)
            .map(move |(entry, rows)| Block::new(entry, rows, self.word))
    }
}

/// Blocks that a range touches, counted from its base.
fn blocks_of(frames: PfnRange) -> u64 {
    if frames.is_empty() {
        return 0;
    }
    (frames.end.0 - base_of(frames).0).div_ceil(u64::from(BLOCK_FRAMES))
}

fn base_of(frames: PfnRange) -> Pfn {
    Pfn(frames.start.0 & !(Order::MAX.pages() - 1))
}

impl<'m> Area<'m> {
    /// Bytes of the arrays of a range.
    pub(super) fn metadata_bytes(frames: PfnRange) -> u64 {
        let blocks = blocks_of(frames);
        let regions = blocks.div_ceil(REGION_BLOCKS as u64);
        RawMemory::bytes_for::<Rows>(blocks)
            .saturating_add(RawMemory::bytes_for::<Entries>(regions))
            .saturating_add(RawMemory::bytes_for::<AtomicU32>(regions))
    }

    /// A range of which no frame is managed. Nothing is written. `None` when the memory does not
    /// suffice.
    pub(super) fn new(frames: PfnRange, memory: &mut RawMemory<'m>) -> Option<Area<'m>> {
        let blocks = blocks_of(frames);
        let regions = blocks.div_ceil(REGION_BLOCKS as u64);
        let rows = memory.unwritten(blocks)?;
        let entries = memory.unwritten(regions)?;
        let regions = memory.unwritten(regions)?;
        Some(Area {
            frames,
            base: base_of(frames),
            rows,
            entries,
            regions,
            frontier: AtomicUsize::new(0),
        })
    }

    /// The range.
    pub(super) fn frames(&self) -> PfnRange {
        self.frames
    }

    /// How many regions are initialised.
    pub(super) fn frontier(&self) -> usize {
        // Acquire pairs with the Release in `set_frontier`.
        self.frontier.load(Ordering::Acquire)
    }

    /// Regions up to here are initialised. Only under the lock of the list of managed ranges.
    pub(super) fn set_frontier(&self, regions: usize) {
        self.frontier.store(regions, Ordering::Release);
    }

    /// One region, initialised or not.
    pub(super) fn any_region(&self, at: usize) -> Option<Region<'_>> {
        let rows = self.rows.get(at * REGION_BLOCKS..)?;
        let rows = rows.get(..REGION_BLOCKS).unwrap_or(rows);
        Some(Region { word: self.regions.get(at)?, entries: self.entries.get(at)?, rows })
    }

    /// An initialised region.
    pub(super) fn region(&self, at: usize) -> Option<Region<'_>> {
        if at < self.frontier() { self.any_region(at) } else { None }
    }

    /// A block of an initialised region.
    pub(super) fn block(&self, at: usize) -> Option<Block<'_>> {
        let region = at / REGION_BLOCKS;
        if region >= self.frontier() {
            return None;
        }
        let entry = &self.entries.get(region)?[at % REGION_BLOCKS];
        Some(Block::new(entry, self.rows.get(at)?, self.regions.get(region)?))
    }

    /// The block of a frame that the area reaches, and the frame's number in it.
    pub(super) fn place(&self, pfn: Pfn) -> (usize, u32) {
        let offset = pfn.0.wrapping_sub(self.base.0);
        ((offset / u64::from(BLOCK_FRAMES)) as usize, (offset % u64::from(BLOCK_FRAMES)) as u32)
    }

    /// The first frame of a block. That of the first block may lie before the area.
    pub(super) fn start_of(&self, block: usize) -> Pfn {
        self.base + block as u64 * u64::from(BLOCK_FRAMES)
    }

    /// What of a block belongs to the area: a block at its edge may belong to another one, too.
    pub(super) fn reach_of_block(&self, block: usize) -> PfnRange {
        let start = self.start_of(block);
        PfnRange { start, end: start + u64::from(BLOCK_FRAMES) }.intersect(self.frames)
    }

    /// What of a region belongs to the area.
    pub(super) fn reach(&self, region: usize) -> PfnRange {
        let start = self.base + region as u64 * REGION_FRAMES;
        PfnRange { start, end: start + REGION_FRAMES }.intersect(self.frames)
    }

    /// The words of those of these regions that are initialised, ascending.
    pub(super) fn words(
        &self,
        within: Range<usize>,
    ) -> impl Iterator<Item = (usize, RegionWord)> + '_ {
        let end = within.end.min(self.frontier()).min(self.regions.len());
        let start = within.start.min(end);
        let words = self.regions.get(start..end).unwrap_or(&[]);
        // Relaxed: sums to decide with.
        (start..).zip(words.iter().map(|word| RegionWord(word.load(Ordering::Relaxed))))
    }
}
