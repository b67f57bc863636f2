//! What one CPU has for itself: control registers, descriptor tables, stacks, its number.
//!
//! In: nothing but the boot CPU. Out: its exceptions are caught, each on its own stack, and
//! [`current`] knows it; [`memory_word`] is a word of its block.

mod control;
mod gdt;
mod idt;
mod per_cpu;
pub mod stacks;

pub use per_cpu::{blocks, current, memory_word};

/// Sets up the CPU that the kernel was started on, as CPU 0.
pub(crate) fn init_boot_cpu() {
    control::switch_on();
    per_cpu::init_boot_cpu();
    idt::load();
}
