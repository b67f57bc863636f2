//! What is free, for reports: by reading only, and only on demand.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::area::Area;
use super::block::{BLOCK_ROWS, Block};
use super::row::{ROW_FRAMES, runs};
use crate::sync::Ordering::Relaxed;
use crate::units::{Order, Pfn, PfnRange};

/// For each order, how many aligned blocks are wholly free, whatever they are part of.
type Blocks = [u64; Order::COUNT];

impl FreeMap<'_> {
    /// Free blocks of exactly each order.
    pub(super) fn count_blocks(&self) -> Blocks {
        let mut blocks = [0; Order::COUNT];
        for area in self.areas {
            // The frontier is read under the lock, so that what is counted by the list and what by
            // the entries have no frame in common.
            let frontier = {
                let managed = self.managed.lock();
                managed.within(area.unused()).for_each(|frames| add_range(&mut blocks, frames));
                area.frontier()
            };
            add_regions(&mut blocks, area, frontier);
        }
        // A block is exactly of its order when the block above is not wholly free.
        core::array::from_fn(|order| {
            let above = blocks.get(order + 1).map_or(0, |count| count * 2);
            blocks[order].saturating_sub(above)
        })
    }

    /// Whether this frame is free; false outside the zone.
    pub(super) fn frame_is_free(&self, frame: Pfn) -> bool {
        let Some(area) = self.area_of(frame) else { return false };
        let (at, first) = area.place(frame);
        match area.block(at) {
            Some(block) => block.is_free(first),
            // The region may be used for the first time at this moment: then it is asked again.
            None => {
                let managed = self.managed.lock();
                match area.block(at) {
                    Some(block) => block.is_free(first),
                    None => managed.contains(frame),
                }
            }
        }
    }
}

impl Block<'_> {
    /// Whether a frame is free.
    pub(super) fn is_free(self, frame: u32) -> bool {
        let entry = self.settled();
        let row = self.rows().get((frame / ROW_FRAMES) as usize);
        let bit = || row.is_some_and(|row| row.load(Relaxed) >> (frame % ROW_FRAMES) & 1 == 1);
        entry.is_whole() || entry.has_rows() && bit()
    }

    /// Every row as it is.
    fn picture(self) -> [u64; BLOCK_ROWS] {
        let entry = self.settled();
        if entry.is_whole() {
            return [u64::MAX; BLOCK_ROWS];
        }
        if !entry.has_rows() {
            return [0; BLOCK_ROWS];
        }
        core::array::from_fn(|row| self.rows()[row].load(Relaxed))
    }
}

fn add_regions(blocks: &mut Blocks, area: &Area<'_>, frontier: usize) {
    for region in (0..frontier).filter_map(|at| area.any_region(at)) {
        if region.word().free() == 0 {
            continue;
        }
        let mut lower_whole = false;
        for (at, block) in region.blocks().enumerate() {
            let rows = block.picture();
            add_rows(blocks, &rows);
            let whole = rows == [u64::MAX; BLOCK_ROWS];
            blocks[Order::MAX.index()] += u64::from(at % 2 == 1 && whole && lower_whole);
            lower_whole = whole;
        }
    }
}

/// Orders 0 to 9 of one block.
fn add_rows(blocks: &mut Blocks, rows: &[u64; BLOCK_ROWS]) {
    for (order, count) in (0..=6).zip(blocks.iter_mut()) {
        *count += rows.iter().map(|&row| u64::from(runs(row, order).count_ones())).sum::<u64>();
    }
    for (wide, count) in [2, 4, 8].into_iter().zip(blocks.iter_mut().skip(7)) {
        let full = |rows: &&[u64]| rows.iter().all(|&row| row == u64::MAX);
        *count += rows.chunks_exact(wide).filter(full).count() as u64;
    }
}

/// A range of which all is free.
fn add_range(blocks: &mut Blocks, frames: PfnRange) {
    for (order, count) in (0..).zip(blocks.iter_mut()) {
        let first = frames.start.0.div_ceil(1 << order);
        *count += (frames.end.0 >> order).saturating_sub(first);
    }
}
