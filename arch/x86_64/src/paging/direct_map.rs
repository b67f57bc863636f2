//! The direct map: all RAM at one offset.

use nearmem::{PhysAddr, VirtAddr};

use crate::layout::DIRECT_MAP;

/// The pointer to a byte of physical memory. What it points to is only defined for memory that the
/// page tables in force map: the first 4 GiB at first, afterwards what `paging::build` was given.
#[inline]
pub fn direct_map(at: PhysAddr) -> *mut u8 {
    VirtAddr(DIRECT_MAP.0.wrapping_add(at.0)).as_ptr()
}
