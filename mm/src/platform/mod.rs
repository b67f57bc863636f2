//! What the crate asks of a kernel: four small traits, and the proof that they hand out.
//!
//! A kernel implements [`Cpus`], [`PhysMap`], [`PageTables`] and [`Tlb`] on one type; everything
//! else in the crate takes that type as a parameter. `sim::SimPlatform` is the same for a host
//! process.

mod paging;
mod token;

pub use paging::{MapError, MapSize, Mapping, PageTables, TableFrames, Tlb};
pub use token::{CpuToken, Cpus};

use crate::units::PhysAddr;

/// Access to RAM by physical address.
///
/// # Safety
/// For every frame of the memory map that the platform was told of, `phys_to_virt` gives a pointer
/// that stays valid for reads and writes of that whole frame as long as the platform lives, and
/// neighbouring frames of one range are neighbours behind the pointer, too.
pub unsafe trait PhysMap {
    /// The pointer to a byte of RAM. What it points to is only defined for RAM.
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8;
}

/// All that the crate asks of a kernel.
pub trait Platform: Cpus + PhysMap + PageTables + Tlb {}

impl<T: Cpus + PhysMap + PageTables + Tlb> Platform for T {}
