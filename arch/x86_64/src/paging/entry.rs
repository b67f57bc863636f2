//! One entry of a page table, and where the four levels cut an address (Intel SDM volume 3, 5.5).

use nearmem::{PhysAddr, VirtAddr};
use x86_64::structures::paging::PageTableFlags;

/// Bits 12 to 51: where the physical address is.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// A level of page tables, 1 (4 KiB leaves) to 4 (the root).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Level(u8);

impl Level {
    /// Page table: leaves of 4 KiB.
    pub const ONE: Level = Level(1);
    /// Page directory: leaves of 2 MiB.
    pub const TWO: Level = Level(2);
    /// Page-directory-pointer table: leaves of 1 GiB, if the CPU can.
    pub const THREE: Level = Level(3);
    /// The root; no leaves.
    pub const FOUR: Level = Level(4);

    /// The level below, if there is one.
    pub const fn below(self) -> Option<Level> {
        if self.0 > 1 { Some(Level(self.0 - 1)) } else { None }
    }

    /// How many levels `lower` is below this one; 0 when it is not.
    pub const fn steps_to(self, lower: Level) -> usize {
        self.0.saturating_sub(lower.0) as usize
    }

    /// Bytes that one entry of this level maps.
    pub const fn span(self) -> u64 {
        1 << self.shift()
    }

    /// The entry of this level that `at` goes through, 0 to 511.
    pub const fn index(self, at: VirtAddr) -> usize {
        (at.0 >> self.shift()) as usize & 511
    }

    const fn shift(self) -> u32 {
        12 + 9 * (self.0 as u32 - 1)
    }
}

/// One entry.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Entry(pub u64);

impl Entry {
    /// Nothing.
    pub const NONE: Entry = Entry(0);

    /// An entry that points to a table of the level below. What a leaf may do its own flags say.
    pub fn table(at: PhysAddr) -> Entry {
        Entry(at.0 | (PageTableFlags::PRESENT | PageTableFlags::WRITABLE).bits())
    }

    /// An entry of `level` that maps memory. `flags` without `PRESENT` and `HUGE_PAGE`.
    pub fn leaf(at: PhysAddr, level: Level, flags: PageTableFlags) -> Entry {
        // Accessed and dirty from the start: else the CPU writes the table for it, once each.
        let mut flags =
            flags | PageTableFlags::PRESENT | PageTableFlags::ACCESSED | PageTableFlags::DIRTY;
        flags.set(PageTableFlags::HUGE_PAGE, level != Level::ONE);
        Entry(at.0 | flags.bits())
    }

    /// Whether there is anything.
    pub const fn is_present(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it maps memory, as an entry of `level`.
    pub fn is_leaf(self, level: Level) -> bool {
        self.is_present()
            && (level == Level::ONE || self.flags().contains(PageTableFlags::HUGE_PAGE))
    }

    /// The table or the first byte of memory that it points to.
    pub const fn addr(self) -> PhysAddr {
        PhysAddr(self.0 & ADDRESS)
    }

    /// Its flags.
    pub const fn flags(self) -> PageTableFlags {
        PageTableFlags::from_bits_truncate(self.0 & !ADDRESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_cut_an_address_as_the_cpu_does() {
        let at = VirtAddr(0xffff_8880_4060_5123);
        assert_eq!(Level::FOUR.index(at), 273);
        assert_eq!(Level::THREE.index(at), 1);
        assert_eq!(Level::TWO.index(at), 3);
        assert_eq!(Level::ONE.index(at), 5);
        assert_eq!(Level::ONE.below(), None);
        assert_eq!(Level::THREE.span(), 1 << 30);
    }

    #[test]
    fn a_leaf_knows_its_level() {
        let flags = PageTableFlags::WRITABLE | PageTableFlags::NO_EXECUTE;
        let small = Entry::leaf(PhysAddr(0x1000), Level::ONE, flags);
        let large = Entry::leaf(PhysAddr(2 << 20), Level::TWO, flags);
        assert!(small.is_leaf(Level::ONE) && large.is_leaf(Level::TWO));
        assert!(!Entry::table(PhysAddr(0x1000)).is_leaf(Level::TWO));
        assert!(!Entry::NONE.is_leaf(Level::ONE));
        assert_eq!(large.addr(), PhysAddr(2 << 20));
        assert!(large.flags().contains(flags));
    }
}
