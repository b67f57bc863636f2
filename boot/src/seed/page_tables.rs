//! What the bookkeeping of vmalloc costs: where its areas lie, and how many frames map them.

use std::collections::BTreeSet;

/// Bytes of a page; also the guard behind every area.
const PAGE: u64 = 4096;
/// What a leaf table of 4 KiB pages maps, in bytes; what a single entry of a directory maps, too.
const MIB_2: u64 = 2 << 20;
/// What a directory maps, in bytes.
const GIB_1: u64 = 1 << 30;

/// The areas of vmalloc, in bytes from the start of its range, which is aligned to 512 GiB. The
/// table above the directories is there from the start, used or not.
///
/// Areas are placed first-fit, each with a guard page behind it. Nothing is freed here, so a hole
/// is only left before an area that is aligned to 2 MiB.
#[derive(Debug, Clone, Default)]
pub struct Areas {
    /// Starts and ends with the guard, by address.
    taken: Vec<(u64, u64)>,
    leaves: BTreeSet<u64>,
    directories: BTreeSet<u64>,
}

impl Areas {
    /// Places an area of single pages.
    pub fn pages(&mut self, pages: u64) {
        let start = self.place(pages * PAGE, PAGE);
        self.map(start, pages * PAGE, false);
    }

    /// Places an area of 2 MiB blocks.
    pub fn blocks(&mut self, blocks: u64) {
        let start = self.place(blocks * MIB_2, MIB_2);
        self.map(start, blocks * MIB_2, true);
    }

    /// How many frames the areas take beside their own: leaf tables, directories, and one for the
    /// records of the areas, which has room for more of them than there are hash tables.
    pub fn frames(&self) -> u64 {
        let records = usize::from(!self.taken.is_empty());
        (self.leaves.len() + self.directories.len() + records) as u64
    }

    /// The lowest start that has room, aligned.
    fn place(&mut self, bytes: u64, align: u64) -> u64 {
        let mut start: u64 = 0;
        let mut place = 0;
        for &(taken, end) in &self.taken {
            if start + bytes + PAGE <= taken {
                break;
            }
            start = end.next_multiple_of(align);
            place += 1;
        }
        self.taken.insert(place, (start, start + bytes + PAGE));
        start
    }

    fn map(&mut self, start: u64, bytes: u64, blocks: bool) {
        let covered = |unit: u64| start / unit..(start + bytes).div_ceil(unit);
        if !blocks {
            self.leaves.extend(covered(MIB_2));
        }
        self.directories.extend(covered(GIB_1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(Areas::default().frames(), 0);
    }

    #[test]
    fn one_page_takes_a_leaf_a_directory_and_the_records() {
        let mut areas = Areas::default();
        areas.pages(1);
        assert_eq!(areas.frames(), 3);
        // The neighbour shares them all.
        areas.pages(1);
        assert_eq!(areas.frames(), 3);
        assert_eq!(areas.taken, [(0, 2 * PAGE), (2 * PAGE, 4 * PAGE)]);
    }

    #[test]
    fn a_table_of_4_mib_crosses_into_a_third_leaf_by_the_guard_before_it() {
        let mut areas = Areas::default();
        areas.pages(1);
        areas.pages(1024);
        assert_eq!(areas.leaves.len(), 3);
        assert_eq!(areas.frames(), 5);
    }

    #[test]
    fn blocks_need_no_leaf_and_leave_a_hole_that_is_used() {
        let mut areas = Areas::default();
        areas.pages(1);
        areas.blocks(2);
        assert_eq!(areas.taken[1], (MIB_2, 3 * MIB_2 + PAGE));
        assert_eq!(areas.frames(), 3);
        areas.pages(16);
        assert_eq!(areas.taken[1], (2 * PAGE, 19 * PAGE));
        areas.blocks(1);
        assert_eq!(areas.taken[3], (4 * MIB_2, 5 * MIB_2 + PAGE));
        assert_eq!(areas.frames(), 3);
    }

    #[test]
    fn a_gib_takes_a_second_directory() {
        let mut areas = Areas::default();
        areas.blocks(513);
        assert_eq!(areas.frames(), 3);
    }
}
