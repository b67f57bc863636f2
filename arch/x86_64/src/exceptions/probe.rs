//! Memory accesses that may fail, for tests of what is mapped and how.

use core::arch::naked_asm;

use nearmem::VirtAddr;

use super::ExceptionFrame;

/// What an access came to instead of success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// 14 for a page fault; 13 for an address that no page table can map.
    pub vector: u8,
    /// As the CPU gave it: for a page fault, bit 0 says that the page is there but protected, bit 1
    /// that it was a write.
    pub error_code: u32,
}

/// Bit 32 of a result: the access failed, and the lower half is vector << 16 | error code.
const FAILED: u64 = 1 << 32;

/// Reads one byte. Any address will do; a device may notice.
pub fn read(at: VirtAddr) -> Result<u8, Fault> {
    // SAFETY: the function reads one byte and keeps nothing of it; if that faults, `resume` goes on
    // behind the read.
    result(unsafe { probe_read(at.0) })
}

/// Writes one byte.
///
/// # Safety
/// If the byte can be written at all, nobody minds.
pub unsafe fn write(at: VirtAddr, value: u8) -> Result<(), Fault> {
    // SAFETY: the caller allows the write; if it faults, `resume` goes on behind it.
    result(unsafe { probe_write(at.0, value) }).map(|_| ())
}

fn result(raw: u64) -> Result<u8, Fault> {
    if raw & FAILED == 0 {
        return Ok(raw as u8);
    }
    Err(Fault { vector: (raw >> 16) as u8, error_code: raw as u32 & 0xffff })
}

// Both functions begin with the one instruction that may fault, and have the address of the next
// one in a symbol.

#[unsafe(naked)]
unsafe extern "C" fn probe_read(at: u64) -> u64 {
    naked_asm!("movzx eax, byte ptr [rdi]", ".global probe_read_done", "probe_read_done:", "ret")
}

#[unsafe(naked)]
unsafe extern "C" fn probe_write(at: u64, value: u8) -> u64 {
    naked_asm!(
        "mov byte ptr [rdi], sil",
        "xor eax, eax",
        ".global probe_write_done",
        "probe_write_done:",
        "ret",
    )
}

unsafe extern "C" {
    safe static probe_read_done: u8;
    safe static probe_write_done: u8;
}

/// Goes on behind the access, if it was a probe's that failed.
pub(super) fn resume(frame: &mut ExceptionFrame) -> bool {
    let accesses = [
        (probe_read as *const (), &raw const probe_read_done),
        (probe_write as *const (), &raw const probe_write_done),
    ];
    let at = frame.rip as usize;
    let Some((_, done)) = accesses.into_iter().find(|(access, _)| access.addr() == at) else {
        return false;
    };
    if !matches!(frame.vector, 13 | 14) {
        return false;
    }
    frame.rip = done.addr() as u64;
    frame.rax = FAILED | frame.vector << 16 | (frame.error_code & 0xffff);
    true
}
