//! Cleared tables, taken before the lock is.

use nearmem::PhysAddr;
use nearmem::platform::{MapError, PhysMap, TableFrames};

use crate::paging::table::Table;

/// One mapping needs three tables at most.
const MOST: usize = 3;

/// Tables that are not in use yet. What is left goes back.
pub(super) struct Spare<'a, M: PhysMap> {
    memory: &'a M,
    frames: &'a mut dyn TableFrames,
    tables: [PhysAddr; MOST],
    count: usize,
}

impl<'a, M: PhysMap> Spare<'a, M> {
    /// None yet.
    pub fn new(memory: &'a M, frames: &'a mut dyn TableFrames) -> Self {
        Spare { memory, frames, tables: [PhysAddr(0); MOST], count: 0 }
    }

    /// Takes frames until there are `count` tables, 3 at most.
    pub fn fill(&mut self, count: usize) -> Result<(), MapError> {
        while self.count < count.min(MOST) {
            let table = self.frames.take().ok_or(MapError::NoTableFrame)?.addr();
            // SAFETY: a frame that was just taken is nobody else's.
            unsafe { Table::clear(self.memory, table) };
            self.tables[self.count] = table;
            self.count += 1;
        }
        Ok(())
    }

    /// One table, if there are at least `needed`.
    pub fn take_of(&mut self, needed: usize) -> Option<PhysAddr> {
        if needed == 0 || self.count < needed {
            return None;
        }
        self.count -= 1;
        Some(self.tables[self.count])
    }

    /// Gives back a table that nothing knows any more.
    pub fn give_back(&mut self, table: PhysAddr) {
        self.frames.give_back(table.pfn());
    }
}

impl<M: PhysMap> Drop for Spare<'_, M> {
    fn drop(&mut self) {
        for table in &self.tables[..self.count] {
            self.frames.give_back(table.pfn());
        }
    }
}
