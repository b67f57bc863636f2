//! The platform traits of a simulated machine.

use core::ops::Range;
use std::boxed::Box;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

use crate::ids::CpuId;
use crate::platform::{CpuToken, Cpus, MapError, Mapping, PageTables, PhysMap, TableFrames, Tlb};
use crate::sync::LocalPointer;
use crate::units::{PhysAddr, VirtAddr};

use super::cpus::{self, SimPin};
use super::memory::Memory;
use super::page_tables::SimTables;

/// What is called with the range of each TLB flush.
pub(super) type FlushHook = Box<dyn FnMut(Range<VirtAddr>) + Send>;

/// A simulated machine, as the crate sees it. Clones are the same machine.
#[derive(Clone)]
pub struct SimPlatform {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) cpus: Arc<cpus::Cpus>,
    pub(super) memory: Memory,
    pub(super) tables: Mutex<SimTables>,
    pub(super) flushes: Mutex<Vec<Range<VirtAddr>>>,
    pub(super) on_flush: Mutex<Option<FlushHook>>,
}

// SAFETY: a CPU is one thread at a time (`cpus`), nothing interrupts a thread, and the pin stays
// on its thread; each CPU has a word, which nobody else writes.
unsafe impl Cpus for SimPlatform {
    type Pin = SimPin;

    fn pin(&self) -> SimPin {
        self.inner.cpus.pin()
    }

    fn local<'a>(&'a self, token: &'a CpuToken) -> &'a LocalPointer {
        self.inner.cpus.local(token.cpu())
    }

    /// Nothing: CPUs look by themselves before they allocate.
    fn kick(&self, _: CpuId) {}
}

// SAFETY: RAM stays mapped as long as a clone of the platform lives, and it is mapped in the
// order of its addresses.
unsafe impl PhysMap for SimPlatform {
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        self.inner.memory.pointer(addr)
    }
}

// SAFETY: `Memory::map` makes the frames of the RAM file appear at the address.
unsafe impl PageTables for SimPlatform {
    fn vmalloc_range(&self) -> Range<VirtAddr> {
        self.inner.memory.window()
    }

    fn has_huge_leaves(&self) -> bool {
        true
    }

    unsafe fn map(
        &self,
        at: VirtAddr,
        leaf: Mapping,
        tables: &mut dyn TableFrames,
    ) -> Result<(), MapError> {
        let (window, bytes) = (self.vmalloc_range(), leaf.size.bytes());
        if !at.0.is_multiple_of(bytes) || !leaf.pfn.is_aligned(leaf.size.order()) {
            return Err(MapError::Misaligned);
        }
        if at < window.start || window.end.0 - bytes < at.0 {
            return Err(MapError::OutOfRange);
        }
        self.inner.tables.lock().unwrap().map(at, leaf, tables)?;
        self.inner.memory.map(at, leaf.pfn, bytes);
        Ok(())
    }

    unsafe fn unmap(&self, at: VirtAddr) -> Option<Mapping> {
        let leaf = self.inner.tables.lock().unwrap().unmap(at)?;
        self.inner.memory.unmap(at, leaf.size.bytes());
        Some(leaf)
    }

    fn translate(&self, at: VirtAddr) -> Option<Mapping> {
        self.inner.tables.lock().unwrap().translate(at)
    }

    unsafe fn reclaim(&self, start: VirtAddr, end: VirtAddr, tables: &mut dyn TableFrames) {
        self.inner.tables.lock().unwrap().reclaim(start, end, tables);
    }
}

// SAFETY: `unmap` has made the addresses fault for all threads already; a flush is only counted.
unsafe impl Tlb for SimPlatform {
    fn flush(&self, start: VirtAddr, end: VirtAddr) {
        assert_eq!(cpus::pins(), 0, "a TLB flush waits for other CPUs: not with a token held");
        self.inner.flushes.lock().unwrap().push(start..end);
        if let Some(hook) = self.inner.on_flush.lock().unwrap().as_mut() {
            hook(start..end);
        }
    }
}
