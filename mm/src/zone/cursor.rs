//! Where a CPU took last.
#![forbid(unsafe_code)]

use crate::sync::LocalWord32;

/// Where one CPU looks first in one zone. A hint, nothing more: a wrong cursor costs time. One CPU
/// writes it.
#[derive(Debug)]
pub struct Cursor {
    area: LocalWord32,
    block: LocalWord32,
    huge_area: LocalWord32,
    huge_block: LocalWord32,
}

/// A block that does not exist: an area has less than 2^32 - 1.
const NOWHERE: u32 = u32::MAX;

impl Cursor {
    /// Nowhere yet.
    pub fn new() -> Cursor {
        Cursor {
            area: LocalWord32::new(0),
            block: LocalWord32::new(NOWHERE),
            huge_area: LocalWord32::new(0),
            huge_block: LocalWord32::new(NOWHERE),
        }
    }

    /// Area and block for orders 0 to 8.
    pub(super) fn small(&self) -> (usize, usize) {
        (self.area.get() as usize, self.block.get() as usize)
    }

    pub(super) fn set_small(&self, area: usize, block: usize) {
        self.area.set(area as u32);
        self.block.set(block as u32);
    }

    /// Area and block for orders 9 and 10.
    pub(super) fn huge(&self) -> (usize, usize) {
        (self.huge_area.get() as usize, self.huge_block.get() as usize)
    }

    pub(super) fn set_huge(&self, area: usize, block: usize) {
        self.huge_area.set(area as u32);
        self.huge_block.set(block as u32);
    }
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor::new()
    }
}
