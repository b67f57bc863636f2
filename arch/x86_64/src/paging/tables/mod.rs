//! The page tables in force: vmalloc's window, the CPUs' areas, device registers, and a look at
//! everything.
//!
//! In: leaves to map and frames for tables. Out: mappings that the CPU sees. One lock guards which
//! tables there are; it is never held while frames are taken or given back, or while TLBs are
//! flushed.

mod map;
mod reclaim;
mod spare;

use core::ops::Range;

use nearmem::platform::{MapSize, Mapping, PhysMap};
use nearmem::{PAGE_SIZE, PhysAddr, PhysRange, VirtAddr};
use spin::Mutex;
use x86_64::structures::paging::PageTableFlags;

use super::builder::{BuildError, Builder};
use super::entry::{Entry, Level};
use super::plan::Ready;
use super::table::{self, Leaf, Table};
use crate::layout::{MMIO, VMALLOC, VMALLOC_SIZE};

/// How many pages of device registers can be mapped.
const MMIO_PAGES: u64 = 512;
/// What all mappings made here may do: reading and writing.
const DATA: PageTableFlags =
    PageTableFlags::WRITABLE.union(PageTableFlags::NO_EXECUTE).union(PageTableFlags::GLOBAL);

/// The kernel's page tables, in memory that `M` reaches.
pub struct KernelPageTables<M> {
    memory: M,
    root: PhysAddr,
    ready: Ready,
    /// The flags that the CPU knows.
    known: PageTableFlags,
    lock: Mutex<Locked>,
}

/// What the lock guards apart from the tables.
struct Locked {
    /// Pages of device registers that are mapped.
    mmio_pages: u64,
}

impl<M: PhysMap> KernelPageTables<M> {
    /// The tables under `root`.
    ///
    /// # Safety
    /// `root` is the root of page tables that `memory` reaches and that stay for good; `ready` are
    /// two of them, as `plan` made them. Nobody else changes them from now on.
    pub(super) unsafe fn new(
        memory: M,
        root: PhysAddr,
        ready: Ready,
        known: PageTableFlags,
    ) -> Self {
        KernelPageTables { memory, root, ready, known, lock: Mutex::new(Locked { mmio_pages: 0 }) }
    }

    /// The physical address of the root table.
    pub fn root(&self) -> PhysAddr {
        self.root
    }

    /// Tables for a CPU on its way to these: all that the upper half maps here, now and later but for
    /// new entries of the root, and one page at its physical address, to read and execute. Gives
    /// their root, below 4 GiB.
    ///
    /// # Errors
    /// `frames` gave none, or one from 4 GiB on.
    ///
    /// # Safety
    /// `frames` gives frames of RAM that are the tables' for good.
    pub unsafe fn with_identity(
        &self,
        page: PhysAddr,
        frames: impl FnMut() -> Option<PhysAddr>,
    ) -> Result<PhysAddr, BuildError> {
        const REACH: u64 = 4 << 30;
        let _lock = self.lock.lock();
        // SAFETY: the caller's promise.
        let mut builder = unsafe { Builder::new(&self.memory, frames, REACH, self.known) }?;
        let frame = PhysRange { start: page, end: page + PAGE_SIZE };
        builder.map(VirtAddr(page.0), frame, PageTableFlags::empty(), Level::ONE)?;
        // SAFETY: the builder has just made it, and nobody else knows it.
        let root = unsafe { Table::at(&self.memory, builder.root()) };
        for index in 256..512 {
            root.set(index, self.table(self.root).get(index));
        }
        Ok(builder.root())
    }

    /// vmalloc's addresses: 512 GiB.
    pub fn vmalloc_range(&self) -> Range<VirtAddr> {
        VMALLOC..VMALLOC + VMALLOC_SIZE
    }

    /// As `unmap` of [`nearmem::platform::PageTables`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn unmap(&self, at: VirtAddr) -> Option<Mapping> {
        let _lock = self.lock.lock();
        let (table, level) = self.last_table(at)?;
        let index = level.index(at);
        let mapping = mapping(level, table.get(index))?;
        if !at.0.is_multiple_of(level.span()) {
            return None;
        }
        table.set(index, Entry::NONE);
        Some(mapping)
    }

    /// As `translate` of [`nearmem::platform::PageTables`].
    pub fn translate(&self, at: VirtAddr) -> Option<Mapping> {
        let _lock = self.lock.lock();
        let (table, level) = self.last_table(at)?;
        mapping(level, table.get(level.index(at)))
    }

    /// Maps one page of device registers, uncached, for good. `None` when 512 are mapped already.
    ///
    /// # Safety
    /// `frame` holds device registers, not RAM.
    pub unsafe fn map_mmio(&self, frame: PhysAddr) -> Option<VirtAddr> {
        let mut state = self.lock.lock();
        let page = state.mmio_pages;
        if page == MMIO_PAGES {
            return None;
        }
        state.mmio_pages += 1;
        let uncached = PageTableFlags::NO_CACHE | PageTableFlags::WRITE_THROUGH;
        let entry = Entry::leaf(frame.pfn().addr(), Level::ONE, (DATA | uncached) & self.known);
        let at = MMIO + page * Level::ONE.span();
        self.table(self.ready.mmio).set(Level::ONE.index(at), entry);
        Some(at)
    }

    /// The leaf that maps any address, if there is one: to test what is mapped and how.
    pub fn inspect(&self, at: VirtAddr) -> Option<Leaf> {
        let _lock = self.lock.lock();
        // SAFETY: the root is ours, and the lock keeps the tables as they are.
        unsafe { table::find(&self.memory, self.root, at) }
    }

    /// Calls `visit` for every leaf, by ascending address. `visit` must not map or unmap: the lock
    /// is held.
    pub fn walk(&self, visit: &mut dyn FnMut(Leaf)) {
        let _lock = self.lock.lock();
        // SAFETY: as in `inspect`.
        unsafe { table::walk(&self.memory, self.root, visit) }
    }

    /// The table that has the leaf for `at`, or would have it, and its level; `None` outside
    /// vmalloc's window and where there is no table.
    fn last_table(&self, at: VirtAddr) -> Option<(&Table, Level)> {
        if !self.vmalloc_range().contains(&at) {
            return None;
        }
        let (mut table, mut level) = (self.table(self.ready.vmalloc), Level::THREE);
        loop {
            let entry = table.get(level.index(at));
            let Some(below) = level.below().filter(|_| !entry.is_leaf(level)) else {
                return Some((table, level));
            };
            table = entry.is_present().then(|| self.table(entry.addr()))?;
            level = below;
        }
    }

    /// A table, for a holder of the lock.
    fn table(&self, at: PhysAddr) -> &Table {
        // SAFETY: all callers hold the lock, and pass the root, one of `ready` or what a present entry points
        // to: tables that stay tables as long as the lock is held.
        unsafe { Table::at(&self.memory, at) }
    }
}

/// What an entry of `level` maps.
fn mapping(level: Level, entry: Entry) -> Option<Mapping> {
    let size = if level == Level::ONE { MapSize::Small } else { MapSize::Huge };
    entry.is_leaf(level).then(|| Mapping { pfn: entry.addr().pfn(), size })
}

#[cfg(test)]
mod tests;
