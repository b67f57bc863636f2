//! What the crate asks of a kernel: four small traits, and the proof that they hand out.
//!
//! A kernel implements [`Cpus`], [`PhysMap`], [`PageTables`] and [`Tlb`] on one type; everything
//! else in the crate takes that type as a parameter. Without vmalloc the first two suffice, and
//! [`OneCpu`] is the first for a kernel that is still on one CPU. `sim::SimPlatform` is all of them
//! for a host process.

mod one_cpu;
mod paging;
mod token;

pub use one_cpu::{Here, OneCpu};
pub use paging::{MapError, MapSize, Mapping, PageTables, TableFrames, Tlb};
pub use token::{CpuToken, Cpus};

use crate::units::PhysAddr;

/// Access to RAM by physical address.
///
/// # Safety
/// For every frame of the memory map that the platform was told of, `phys_to_virt` gives a pointer
/// that stays valid for reads and writes of that whole frame as long as the platform lives, and
/// neighbouring frames of one range are neighbours behind the pointer, too. A frame's pointer is a
/// multiple of 4096.
pub unsafe trait PhysMap {
    /// The pointer to a byte of RAM. What it points to is only defined for RAM.
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8;
}

/// What zones, pagesets and the page allocator ask of a kernel.
pub trait CpuPlatform: Cpus + PhysMap {}

impl<T: Cpus + PhysMap> CpuPlatform for T {}

/// All that the crate asks of a kernel: for vmalloc, page tables and TLBs, too.
pub trait Platform: Cpus + PhysMap + PageTables + Tlb {}

impl<T: Cpus + PhysMap + PageTables + Tlb> Platform for T {}
