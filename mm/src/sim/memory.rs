//! RAM and the vmalloc range of a simulated machine, out of one file in the host's memory.
//!
//! Physical address = offset in the file. The whole span of physical addresses is reserved in
//! one piece, and only what is RAM can be touched: a hole faults, as does an address of the
//! vmalloc range that nothing is mapped at.

use core::ffi::c_void;
use core::ops::Range;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::topology::NodeRange;
use crate::units::{Pfn, PhysAddr, VirtAddr};

/// Bytes of the vmalloc range. Valgrind has room for no more than 64 GiB of addresses.
const WINDOW: u64 = 32 << 30;
/// The window begins at a multiple of this, so that page tables of it are no one else's.
const ALIGN: u64 = 1 << 30;

pub(super) struct Memory {
    file: OwnedFd,
    ram: *mut u8,
    ram_bytes: usize,
    /// The reservation; the window is its part that is aligned to 1 GiB.
    reserved: *mut u8,
    window: Range<VirtAddr>,
}

// SAFETY: the pointers are to mappings that belong to this value; using them is up to those who
// get them from it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// RAM for these ranges (ascending), filled with 0xA5 if so wanted.
    pub(super) fn new(ranges: &[NodeRange], fill: bool) -> Memory {
        let span = ranges.last().map_or(0, |last| last.frames.bytes().end.0);
        let file = memfd_create("nearmem-sim", MemfdFlags::CLOEXEC).expect("memfd");
        ftruncate(&file, span).expect("size of the RAM file");
        let ram_bytes = span as usize;
        let ram = reserve(ram_bytes);
        let reserved = reserve((WINDOW + ALIGN) as usize);
        let base = (reserved.expose_provenance() as u64).next_multiple_of(ALIGN);
        let window = VirtAddr(base)..VirtAddr(base + WINDOW);
        let memory = Memory { file, ram, ram_bytes, reserved, window };
        for range in ranges {
            let bytes = range.frames.bytes();
            let at = memory.pointer(bytes.start);
            memory.show(at, range.frames.start, bytes.len());
            if fill {
                // SAFETY: the bytes were mapped just now, and nobody else knows them yet.
                unsafe { at.write_bytes(0xa5, bytes.len() as usize) };
            }
        }
        memory
    }

    /// The pointer to a byte of RAM.
    pub(super) fn pointer(&self, addr: PhysAddr) -> *mut u8 {
        self.ram.wrapping_add(addr.0 as usize)
    }

    /// The vmalloc range.
    pub(super) fn window(&self) -> Range<VirtAddr> {
        self.window.clone()
    }

    /// Makes frames appear in the vmalloc range.
    pub(super) fn map(&self, at: VirtAddr, pfn: Pfn, bytes: u64) {
        self.show(self.in_window(at, bytes), pfn, bytes);
    }

    /// Makes addresses of the vmalloc range fault again.
    pub(super) fn unmap(&self, at: VirtAddr, bytes: u64) {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        let at = self.in_window(at, bytes);
        // SAFETY: the range lies in our own reservation, so no other mapping is replaced.
        unsafe { mmap_anonymous(at, bytes as usize, ProtFlags::empty(), flags) }.expect("unmap");
    }

    fn in_window(&self, at: VirtAddr, bytes: u64) -> *mut c_void {
        assert!(self.window.start <= at && at.0 + bytes <= self.window.end.0, "{at:?} not vmalloc");
        at.as_ptr()
    }

    /// Maps a part of the file at `at`, which is in one of our reservations.
    fn show<T>(&self, at: *mut T, pfn: Pfn, bytes: u64) {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: `at` is in one of our reservations, so no other mapping is replaced.
        unsafe { mmap(at.cast(), bytes as usize, access, flags, &self.file, pfn.addr().0) }
            .expect("the host maps no more (its vm.max_map_count, perhaps)");
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: both are reservations of this value, whole, and it is gone after this.
        unsafe {
            munmap(self.ram.cast(), self.ram_bytes).expect("unmap RAM");
            munmap(self.reserved.cast(), (WINDOW + ALIGN) as usize).expect("unmap the window");
        }
    }
}

/// Addresses that nothing is behind.
fn reserve(bytes: usize) -> *mut u8 {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let nowhere = core::ptr::null_mut();
    // SAFETY: without FIXED the host chooses addresses that are free.
    unsafe { mmap_anonymous(nowhere, bytes, ProtFlags::empty(), flags) }
        .expect("the host has no addresses for this machine")
        .cast()
}
