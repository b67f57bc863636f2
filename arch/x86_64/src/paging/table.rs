//! A page table in memory, and the way through the levels.

use core::sync::atomic::{AtomicU64, Ordering};

use nearmem::platform::PhysMap;
use nearmem::{PhysAddr, VirtAddr};

use super::entry::{Entry, Level};

/// 512 entries. The CPU reads them at any time, other CPUs may, too: hence atomics.
#[repr(C, align(4096))]
pub struct Table([AtomicU64; Table::ENTRIES]);

const _: () = assert!(size_of::<Table>() == 4096);

impl Table {
    /// How many entries a table has.
    pub const ENTRIES: usize = 512;

    /// The table in a frame.
    ///
    /// # Safety
    /// `at` is a frame of RAM that holds a page table, for as long as the reference lives.
    pub unsafe fn at<M: PhysMap>(memory: &M, at: PhysAddr) -> &Table {
        // SAFETY: the frame is RAM, which `memory` can reach; any bytes are a valid table, and all
        // access is atomic.
        unsafe { &*memory.phys_to_virt(at).cast() }
    }

    /// Makes a frame an empty table.
    ///
    /// # Safety
    /// `at` is a frame of RAM that nobody else uses.
    pub unsafe fn clear<M: PhysMap>(memory: &M, at: PhysAddr) {
        // SAFETY: the frame is the caller's, and 4 KiB long.
        unsafe { memory.phys_to_virt(at).write_bytes(0, size_of::<Table>()) };
    }

    /// Reads an entry.
    pub fn get(&self, index: usize) -> Entry {
        // Acquire: whoever sees an entry sees the cleared table behind it.
        Entry(self.0[index].load(Ordering::Acquire))
    }

    /// Writes an entry. Writers of one table keep each other off.
    pub fn set(&self, index: usize, entry: Entry) {
        // Release: see `get`.
        self.0[index].store(entry.0, Ordering::Release);
    }

    /// How many of `most` entries from `index` on there are up to the first that is present.
    pub fn absent(&self, index: usize, most: usize) -> usize {
        // Relaxed: what is behind a present entry is not looked at.
        let present = |entry: &AtomicU64| Entry(entry.load(Ordering::Relaxed)).is_present();
        self.0[index..][..most].iter().position(present).unwrap_or(most)
    }

    /// Writes `count` leaves of neighbouring memory from an entry on, the first of which is `first`.
    pub fn set_leaves(&self, index: usize, count: usize, first: Entry, level: Level) {
        let mut next = first.0;
        let mut write = |entries: &[AtomicU64]| {
            for entry in entries {
                // Release: see `get`.
                entry.store(next, Ordering::Release);
                // Wraps only behind the last address that an entry can hold.
                next = next.wrapping_add(level.span());
            }
        };
        // Eight in a loop's turn: a machine of 16 TiB has 16384 of them to write at its start.
        let (eights, rest) = self.0[index..][..count].as_chunks::<8>();
        eights.iter().for_each(|eight| write(eight));
        write(rest);
    }

    /// Whether no entry is present.
    pub fn is_empty(&self) -> bool {
        (0..Self::ENTRIES).all(|index| !self.get(index).is_present())
    }
}

/// One leaf of some page tables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The first address that it maps.
    pub at: VirtAddr,
    /// Its level; [`Level::span`] bytes are mapped.
    pub level: Level,
    /// Memory and flags.
    pub entry: Entry,
}

/// The leaf that maps `at` in the tables under `root`, if there is one.
///
/// # Safety
/// `root` is the root of page tables that do not change meanwhile, all of them in RAM.
pub unsafe fn find<M: PhysMap>(memory: &M, root: PhysAddr, at: VirtAddr) -> Option<Leaf> {
    let (mut table, mut level) = (root, Level::FOUR);
    loop {
        // SAFETY: the root is a table, and a present entry that is no leaf points to one.
        let entry = unsafe { Table::at(memory, table) }.get(level.index(at));
        if entry.is_leaf(level) {
            return Some(Leaf { at: VirtAddr(at.0 & !(level.span() - 1)), level, entry });
        }
        if !entry.is_present() {
            return None;
        }
        (table, level) = (entry.addr(), level.below()?);
    }
}

/// Calls `visit` for each leaf of the tables under `root`, by ascending address.
///
/// # Safety
/// As for [`find`].
pub unsafe fn walk<M: PhysMap>(memory: &M, root: PhysAddr, visit: &mut dyn FnMut(Leaf)) {
    // SAFETY: passed on.
    unsafe { walk_level(memory, root, Level::FOUR, 0, visit) }
}

/// # Safety
/// `table` is a table of `level` in tables that do not change meanwhile.
unsafe fn walk_level<M: PhysMap>(
    memory: &M,
    table: PhysAddr,
    level: Level,
    start: u64,
    visit: &mut dyn FnMut(Leaf),
) {
    for index in 0..512 {
        // SAFETY: the caller says that it is a table.
        let entry = unsafe { Table::at(memory, table) }.get(index);
        let at = start + index as u64 * level.span();
        // The upper half begins at bit 47, whose value the bits above repeat.
        let at = if level == Level::FOUR && index >= 256 { at | 0xffff << 48 } else { at };
        if entry.is_leaf(level) {
            visit(Leaf { at: VirtAddr(at), level, entry });
        } else if let (true, Some(below)) = (entry.is_present(), level.below()) {
            // SAFETY: a present entry that is no leaf points to a table.
            unsafe { walk_level(memory, entry.addr(), below, at, visit) };
        }
    }
}
