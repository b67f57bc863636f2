//! The boot CPU's move from the kernel image to its area.

use core::arch::naked_asm;

use nearmem::{ApicId, VirtAddr};

use super::{Area, per_cpu};

/// Makes the boot CPU work in its area from now on, block and exceptions included, and goes on with
/// `main` on the stack there. `id` is its APIC id. What lies on the old stack stays where it is.
///
/// # Safety
/// All pages of the area, which is CPU 0's, are mapped, and nobody has used them. This runs on the
/// boot CPU with interrupts off, without a guard or a token, and for the first time.
pub unsafe fn move_boot_cpu(area: Area, id: ApicId, main: extern "C" fn() -> !) -> ! {
    // SAFETY: the caller's promise; the stack is in the area.
    unsafe {
        per_cpu::move_to(area, id);
        go_on(area.stack_top(), main)
    }
}

/// # Safety
/// A stack ends at `stack`, which nobody uses.
#[unsafe(naked)]
unsafe extern "C" fn go_on(stack: VirtAddr, main: extern "C" fn() -> !) -> ! {
    naked_asm!(
        "mov rsp, rdi",
        "xor ebp, ebp", // the end of the chain of frames
        "call rsi",
        "ud2",
    )
}
