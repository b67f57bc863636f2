//! The boot CPU's stack: in .bss, with a page under it that the final page tables leave out.

use core::arch::global_asm;

/// Bytes of the boot CPU's stack.
pub const STACK_BYTES: usize = 256 << 10;

global_asm!(
    ".pushsection .bss.boot_stack, \"aw\", @nobits",
    ".balign 4096",
    ".global boot_stack_guard",
    "boot_stack_guard:",
    ".skip 4096",
    ".skip {bytes}",
    ".global boot_stack_top",
    "boot_stack_top:",
    ".popsection",
    bytes = const STACK_BYTES,
);
