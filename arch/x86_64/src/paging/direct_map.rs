//! The direct map: all RAM at one offset.

use nearmem::platform::PhysMap;
use nearmem::{PhysAddr, VirtAddr};

use crate::layout::DIRECT_MAP;

/// The pointer to a byte of physical memory. What it points to is only defined for memory that the
/// page tables in force map: the first 4 GiB at first, afterwards what [`super::build`] was given.
#[inline]
pub fn direct_map(at: PhysAddr) -> *mut u8 {
    VirtAddr(DIRECT_MAP.0.wrapping_add(at.0)).as_ptr()
}

/// Physical memory through the direct map.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectMap;

// SAFETY: the page tables of both doors map the first 4 GiB there, those of `build` all RAM that
// the kernel is told of, for good.
unsafe impl PhysMap for DirectMap {
    #[inline]
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        direct_map(addr)
    }
}
