//! The page tables of the simulated vmalloc range: which leaves there are, and how many frames a
//! real machine's tables for them would take (a last-level table for each 2 MiB that has small
//! leaves, a directory for each 1 GiB; what is above is there from the start).

use std::collections::BTreeMap;
use std::vec::Vec;

use crate::platform::{MapError, MapSize, Mapping, TableFrames};
use crate::units::{Pfn, VirtAddr};

const HUGE: u64 = 2 << 20;
const GIB: u64 = 1 << 30;

#[derive(Default)]
pub(super) struct SimTables {
    leaves: BTreeMap<u64, Mapping>,
    /// By address / 2 MiB.
    last_level: BTreeMap<u64, Table>,
    /// By address / 1 GiB.
    directories: BTreeMap<u64, Table>,
}

#[derive(Clone, Copy)]
struct Table {
    frame: Pfn,
    /// Entries in use.
    used: u32,
}

impl SimTables {
    /// Enters a leaf. Address and frame are multiples of its size.
    pub(super) fn map(
        &mut self,
        at: VirtAddr,
        leaf: Mapping,
        frames: &mut dyn TableFrames,
    ) -> Result<(), MapError> {
        let (huge, gib) = (at.0 / HUGE, at.0 / GIB);
        let has_table = self.last_level.contains_key(&huge);
        let occupied = match leaf.size {
            MapSize::Small => self.translate(at).is_some(),
            MapSize::Huge => has_table || self.leaves.contains_key(&at.0),
        };
        if occupied {
            return Err(MapError::Occupied);
        }
        let mut new = |missing: bool| match missing {
            true => frames.take().map(Some).ok_or(MapError::NoTableFrame),
            false => Ok(None),
        };
        let directory = new(!self.directories.contains_key(&gib))?;
        let table = match new(leaf.size == MapSize::Small && !has_table) {
            Ok(table) => table,
            Err(error) => {
                directory.into_iter().for_each(|frame| frames.give_back(frame));
                return Err(error);
            }
        };
        if let Some(frame) = directory {
            self.directories.insert(gib, Table { frame, used: 0 });
        }
        if let Some(frame) = table {
            self.last_level.insert(huge, Table { frame, used: 0 });
        }
        let directory = self.directories.get_mut(&gib).expect("it is there now");
        match leaf.size {
            MapSize::Small => {
                directory.used += u32::from(table.is_some());
                self.last_level.get_mut(&huge).expect("it is there now").used += 1;
            }
            MapSize::Huge => directory.used += 1,
        }
        self.leaves.insert(at.0, leaf);
        Ok(())
    }

    /// Takes out the leaf that begins at `at`.
    pub(super) fn unmap(&mut self, at: VirtAddr) -> Option<Mapping> {
        let leaf = self.leaves.remove(&at.0)?;
        let table = match leaf.size {
            MapSize::Small => self.last_level.get_mut(&(at.0 / HUGE)),
            MapSize::Huge => self.directories.get_mut(&(at.0 / GIB)),
        };
        table.expect("a leaf is in a table").used -= 1;
        Some(leaf)
    }

    /// The leaf that maps `at`.
    pub(super) fn translate(&self, at: VirtAddr) -> Option<Mapping> {
        let (&start, &leaf) = self.leaves.range(..=at.0).next_back()?;
        (at.0 - start < leaf.size.bytes()).then_some(leaf)
    }

    /// Gives back the empty tables that lie wholly within `start..end`.
    pub(super) fn reclaim(&mut self, start: VirtAddr, end: VirtAddr, frames: &mut dyn TableFrames) {
        let within = |size: u64| start.0.div_ceil(size)..(end.0 / size).max(start.0.div_ceil(size));
        let empty = |tables: &BTreeMap<u64, Table>, size| {
            let within = tables.range(within(size));
            within.filter(|(_, table)| table.used == 0).map(|(&at, _)| at).collect::<Vec<u64>>()
        };
        for huge in empty(&self.last_level, HUGE) {
            let table = self.last_level.remove(&huge).expect("it is there");
            self.directories.get_mut(&(huge * HUGE / GIB)).expect("it is there").used -= 1;
            frames.give_back(table.frame);
        }
        for gib in empty(&self.directories, GIB) {
            let directory = self.directories.remove(&gib).expect("it is there");
            frames.give_back(directory.frame);
        }
    }

    /// How many frames the tables have.
    pub(super) fn frames(&self) -> u64 {
        (self.last_level.len() + self.directories.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    struct Stack(Vec<Pfn>);

    impl TableFrames for Stack {
        fn take(&mut self) -> Option<Pfn> {
            self.0.pop()
        }
        fn give_back(&mut self, pfn: Pfn) {
            self.0.push(pfn);
        }
    }

    const SMALL: Mapping = Mapping { pfn: Pfn(7), size: MapSize::Small };
    const LARGE: Mapping = Mapping { pfn: Pfn(512), size: MapSize::Huge };

    #[test]
    fn tables_are_taken_as_needed_and_given_back_when_empty() {
        let mut stack = Stack(vec![Pfn(1), Pfn(2), Pfn(3)]);
        let mut tables = SimTables::default();
        tables.map(VirtAddr(GIB), SMALL, &mut stack).unwrap();
        tables.map(VirtAddr(GIB + 4096), SMALL, &mut stack).unwrap();
        assert_eq!(tables.frames(), 2);
        assert_eq!(tables.map(VirtAddr(GIB), LARGE, &mut stack), Err(MapError::Occupied));
        assert_eq!(tables.map(VirtAddr(2 * GIB), SMALL, &mut stack), Err(MapError::NoTableFrame));
        assert_eq!(tables.frames(), 2, "a failure leaves nothing behind");

        assert_eq!(tables.unmap(VirtAddr(GIB)), Some(SMALL));
        assert_eq!(tables.unmap(VirtAddr(GIB)), None);
        tables.reclaim(VirtAddr(GIB), VirtAddr(2 * GIB), &mut stack);
        assert_eq!(tables.frames(), 2, "one leaf is left");
        tables.unmap(VirtAddr(GIB + 4096)).unwrap();
        tables.reclaim(VirtAddr(GIB), VirtAddr(GIB + HUGE - 1), &mut stack);
        assert_eq!(tables.frames(), 2, "the range ends within the table");
        tables.reclaim(VirtAddr(GIB), VirtAddr(GIB + HUGE), &mut stack);
        assert_eq!(tables.frames(), 1, "the directory is larger than the range");
        tables.map(VirtAddr(GIB), LARGE, &mut stack).unwrap();
        assert_eq!(tables.map(VirtAddr(GIB + 4096), SMALL, &mut stack), Err(MapError::Occupied));
        assert_eq!(tables.translate(VirtAddr(GIB + HUGE - 1)), Some(LARGE));
        assert_eq!(tables.translate(VirtAddr(GIB + HUGE)), None);
        tables.unmap(VirtAddr(GIB)).unwrap();
        tables.reclaim(VirtAddr(GIB), VirtAddr(2 * GIB), &mut stack);
        assert_eq!(stack.0.len(), 3);
    }
}
