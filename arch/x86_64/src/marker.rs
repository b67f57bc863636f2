//! Marks for a watcher outside the machine: between [`begin`] and [`end`] of a region, the launcher's
//! locality meter counts what this CPU loads, stores and executes (docs/locality.md).
//!
//! A mark is a NOP of eight bytes that no assembler makes by itself, `nopl DISP(%rax,%rax,1)`:
//!
//! | bytes | |
//! |---|---|
//! | `0f 1f 84 00` | opcode and address form |
//! | 1 byte | the region's number, 0 to 255 |
//! | 1 byte | 1 begin, 2 end |
//! | `4d 4e` | says that it is ours |
//!
//! Without a watcher it costs what a NOP costs, so that marks may stay in any kernel. Regions of one
//! CPU do not nest; each CPU has its own.
//!
//! ```no_run
//! use nearmem_x86_64::marker;
//!
//! marker::begin::<7>();
//! // what is to be watched
//! marker::end::<7>();
//! ```

use core::arch::asm;

/// What begins a region, as a mark's action.
pub const BEGIN: u8 = 1;
/// What ends it.
pub const END: u8 = 2;

/// The displacement of a mark, for code that is all assembler: its bytes are `0f 1f 84 00` and this
/// number.
pub const fn displacement(action: u8, region: u8) -> u32 {
    u32::from_le_bytes([region, action, 0x4d, 0x4e])
}

/// Opens the region of this number on this CPU. Memory accesses stay on their side of it.
#[inline(always)]
pub fn begin<const REGION: u8>() {
    // SAFETY: it does nothing. That it may touch memory keeps the compiler from moving accesses.
    unsafe {
        asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {}",
            const displacement(BEGIN, REGION),
            options(nostack, preserves_flags),
        );
    }
}

/// Closes it.
#[inline(always)]
pub fn end<const REGION: u8>() {
    // SAFETY: as in `begin`.
    unsafe {
        asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {}",
            const displacement(END, REGION),
            options(nostack, preserves_flags),
        );
    }
}
