//! Reading what a loader left in physical memory, before the kernel has its own page tables.

use nearmem::PhysAddr;

use crate::layout::BOOT_DIRECT_MAP_SIZE;
use crate::paging::direct_map;

/// `len` bytes at a physical address, or `None` when the boot page tables do not reach them all.
///
/// # Safety
/// Nobody writes to these bytes as long as the slice is used, and reading them has no side effect.
pub unsafe fn loader_bytes(at: u64, len: usize) -> Option<&'static [u8]> {
    let end = at.checked_add(len as u64)?;
    if at == 0 || end > BOOT_DIRECT_MAP_SIZE {
        return None;
    }
    // SAFETY: the boot page tables map the first 4 GiB, so that all addresses can be read; that
    // nobody writes is the caller's promise; bytes need no alignment and have no invalid values.
    Some(unsafe { core::slice::from_raw_parts(direct_map(PhysAddr(at)), len) })
}

/// At most `len` bytes from a physical address on, as far as the boot page tables reach.
///
/// # Safety
/// As for [`loader_bytes`].
pub unsafe fn loader_bytes_up_to(at: u64, len: usize) -> Option<&'static [u8]> {
    let room = BOOT_DIRECT_MAP_SIZE.saturating_sub(at).min(len as u64);
    // SAFETY: passed on to the caller.
    unsafe { loader_bytes(at, room as usize) }
}
