//! The platform that `nearmem` asks for: this machine.

use core::ops::Range;

use nearmem::platform::{
    CpuToken, Cpus, MapError, MapSize, Mapping, PageTables, PhysMap, TableFrames, Tlb,
};
use nearmem::sync::LocalPointer;
use nearmem::{CpuId, Pfn, PhysAddr, VirtAddr};

use crate::cpu::{self, Area};
use crate::interrupts::InterruptsOff;
use crate::paging::{self, DirectMap, KernelPageTables};
use crate::remote;

/// The CPUs, the direct map, the kernel's page tables and the TLBs.
pub struct X86Platform {
    tables: KernelPageTables<DirectMap>,
}

impl X86Platform {
    /// The platform on the page tables in force.
    pub fn new(tables: KernelPageTables<DirectMap>) -> X86Platform {
        X86Platform { tables }
    }

    /// Maps the pages of a CPU's area, in their order, to these frames: [`Area::PAGES`] of them. The
    /// last-level table comes first from `tables`.
    ///
    /// # Errors
    /// As `map` of [`PageTables`]; what is mapped by then stays.
    ///
    /// # Safety
    /// The frames are RAM that is the area's for good.
    pub unsafe fn map_area(
        &self,
        area: Area,
        frames: impl Iterator<Item = Pfn>,
        tables: &mut dyn TableFrames,
    ) -> Result<(), MapError> {
        for (at, pfn) in area.pages().zip(frames) {
            let leaf = Mapping { pfn, size: MapSize::Small };
            // SAFETY: the caller's promise; nothing was mapped there, so nothing is to be flushed.
            unsafe { self.tables.map(at, leaf, tables, &|_, _| ()) }?;
        }
        Ok(())
    }

    /// The page tables: to look, and to map device registers.
    pub fn tables(&self) -> &KernelPageTables<DirectMap> {
        &self.tables
    }
}

/// Interrupts off, and the CPU that this is.
#[derive(Debug)]
pub struct Pin {
    token: CpuToken,
    _interrupts: InterruptsOff,
}

impl AsRef<CpuToken> for Pin {
    #[inline]
    fn as_ref(&self) -> &CpuToken {
        &self.token
    }
}

// SAFETY: interrupts stay off as long as the pin lives, and nothing else moves code to another CPU;
// each CPU's block has its own id and its own word; `InterruptsOff` nests.
unsafe impl Cpus for X86Platform {
    type Pin = Pin;

    #[inline]
    fn pin(&self) -> Pin {
        let interrupts = InterruptsOff::new();
        // SAFETY: interrupts are off, and stay so as long as the pin, which owns both, lives.
        let token = unsafe { CpuToken::assume(cpu::current()) };
        Pin { token, _interrupts: interrupts }
    }

    #[inline]
    fn local<'a>(&'a self, _token: &'a CpuToken) -> &'a LocalPointer {
        cpu::memory_word()
    }

    fn kick(&self, cpu: CpuId) {
        remote::wake(cpu);
    }
}

// SAFETY: as `DirectMap`.
unsafe impl PhysMap for X86Platform {
    #[inline]
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        DirectMap.phys_to_virt(addr)
    }
}

// SAFETY: the tables are in force, and all access to vmalloc's window goes through them.
unsafe impl PageTables for X86Platform {
    fn vmalloc_range(&self) -> Range<VirtAddr> {
        self.tables.vmalloc_range()
    }

    fn has_huge_leaves(&self) -> bool {
        true
    }

    unsafe fn map(
        &self,
        at: VirtAddr,
        leaf: Mapping,
        frames: &mut dyn TableFrames,
    ) -> Result<(), MapError> {
        // SAFETY: passed on; `flush` forgets the range on all CPUs.
        unsafe { self.tables.map(at, leaf, frames, &|start, end| self.flush(start, end)) }
    }

    unsafe fn unmap(&self, at: VirtAddr) -> Option<Mapping> {
        // SAFETY: passed on.
        unsafe { self.tables.unmap(at) }
    }

    fn translate(&self, at: VirtAddr) -> Option<Mapping> {
        self.tables.translate(at)
    }

    unsafe fn reclaim(&self, start: VirtAddr, end: VirtAddr, frames: &mut dyn TableFrames) {
        // SAFETY: passed on; `flush` forgets the range and its tables on all CPUs.
        unsafe {
            self.tables.reclaim(start, end, frames, &|start, end| self.flush(start, end));
        }
    }
}

// SAFETY: all CPUs that take calls flush before `on_all` returns. One that does not uses nothing of
// the range until it joins, and flushes everything then.
unsafe impl Tlb for X86Platform {
    fn flush(&self, start: VirtAddr, end: VirtAddr) {
        remote::on_all(&|| paging::flush(start, end));
    }
}
