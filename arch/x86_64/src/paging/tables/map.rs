//! Mapping a leaf: in vmalloc's window, or in the area of a CPU.

use nearmem::platform::{MapError, MapSize, Mapping, PhysMap, TableFrames};
use nearmem::{PhysAddr, VirtAddr};

use super::spare::Spare;
use super::{DATA, KernelPageTables};
use crate::layout::{CPU_AREAS, CPU_AREAS_SIZE};
use crate::paging::entry::{Entry, Level};

/// What a try to map came to.
enum Attempt {
    /// So many tables are missing.
    Missing(usize),
    /// Done; this empty table was where the leaf is now.
    Mapped(Option<PhysAddr>),
    /// Something is mapped there.
    Occupied,
}

impl<M: PhysMap> KernelPageTables<M> {
    /// As `map` of [`nearmem::platform::PageTables`], also for the CPUs' areas. `flush` is called in
    /// the one case that calls for it: a 2 MiB leaf takes the place of an empty table.
    ///
    /// # Safety
    /// As there; and when `flush` returns, no CPU knows anything of the range from before.
    pub unsafe fn map(
        &self,
        at: VirtAddr,
        leaf: Mapping,
        frames: &mut dyn TableFrames,
        flush: &dyn Fn(VirtAddr, VirtAddr),
    ) -> Result<(), MapError> {
        match at {
            // The table of vmalloc is always there.
            at if self.vmalloc_range().contains(&at) => {
                self.map_below(self.ready.vmalloc, Level::THREE, at, leaf, frames, flush)
            }
            at if (CPU_AREAS..CPU_AREAS + CPU_AREAS_SIZE).contains(&at) => {
                self.map_below(self.root, Level::FOUR, at, leaf, frames, flush)
            }
            _ => Err(MapError::OutOfRange),
        }
    }

    /// The same under a table of this level. In place, so that the level is a constant: vmalloc
    /// maps page by page.
    #[inline(always)]
    fn map_below(
        &self,
        top: PhysAddr,
        top_level: Level,
        at: VirtAddr,
        leaf: Mapping,
        frames: &mut dyn TableFrames,
        flush: &dyn Fn(VirtAddr, VirtAddr),
    ) -> Result<(), MapError> {
        let bytes = leaf.size.bytes();
        if !at.0.is_multiple_of(bytes) || !leaf.pfn.is_aligned(leaf.size.order()) {
            return Err(MapError::Misaligned);
        }
        let level = match leaf.size {
            MapSize::Small => Level::ONE,
            MapSize::Huge => Level::TWO,
        };
        let entry = Entry::leaf(leaf.pfn.addr(), level, DATA & self.known);
        let mut spare = Spare::new(&self.memory, frames);
        loop {
            match self.try_map(top, top_level, at, level, entry, &mut spare) {
                Attempt::Missing(count) => spare.fill(count)?,
                Attempt::Occupied => return Err(MapError::Occupied),
                Attempt::Mapped(replaced) => {
                    if let Some(table) = replaced {
                        flush(at, at + bytes);
                        spare.give_back(table);
                    }
                    return Ok(());
                }
            }
        }
    }

    #[inline(always)]
    fn try_map(
        &self,
        top: PhysAddr,
        mut level: Level,
        at: VirtAddr,
        leaf: Level,
        entry: Entry,
        spare: &mut Spare<'_, M>,
    ) -> Attempt {
        let _lock = self.lock.lock();
        let mut table = self.table(top);
        while let Some(below) = level.below().filter(|_| level > leaf) {
            let index = level.index(at);
            let next = table.get(index);
            if next.is_leaf(level) {
                return Attempt::Occupied;
            }
            if !next.is_present() {
                let needed = level.steps_to(leaf);
                let Some(new) = spare.take_of(needed) else { return Attempt::Missing(needed) };
                table.set(index, Entry::table(new));
            }
            (table, level) = (self.table(table.get(index).addr()), below);
        }
        let index = level.index(at);
        let old = table.get(index);
        let mut replaced = None;
        if old.is_present() {
            if old.is_leaf(level) || !self.table(old.addr()).is_empty() {
                return Attempt::Occupied;
            }
            replaced = Some(old.addr());
        }
        table.set(index, entry);
        Attempt::Mapped(replaced)
    }
}
