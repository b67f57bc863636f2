//! What one CPU has for itself: control registers, descriptor tables, stacks, its number.
//!
//! In: nothing but the boot CPU, then memory for areas. Out: a CPU's exceptions are caught, each
//! on its own stack, and [`current`] knows it; [`memory_word`] is a word of its block. From
//! [`move_boot_cpu`] on all that the boot CPU uses by itself lies on its own node.

mod area;
#[cfg(target_os = "none")]
mod control;
#[cfg(target_os = "none")]
mod gdt;
#[cfg(target_os = "none")]
mod idt;
#[cfg(target_os = "none")]
mod mailbox;
#[cfg(target_os = "none")]
mod move_boot_cpu;
#[cfg(target_os = "none")]
mod per_cpu;
#[cfg(target_os = "none")]
pub mod stacks;

pub use area::Area;

#[cfg(target_os = "none")]
pub use {
    mailbox::{Left, Mailbox, mailbox, mailbox_of},
    move_boot_cpu::move_boot_cpu,
    per_cpu::{areas, blocks, current, has_started, memory_word, prepare},
};

#[cfg(target_os = "none")]
pub(crate) use per_cpu::{PerCpu, all_blocks, arrive, block, block_of, guards, set_guards};

/// Sleeps until an interrupt comes. Called with interrupts off, so that none comes in between what
/// the caller looked at and the sleep; they are on afterwards.
#[cfg(target_os = "none")]
pub fn sleep() {
    x86_64::instructions::interrupts::enable_and_hlt();
}

/// Sets up the CPU that the kernel was started on, as CPU 0.
#[cfg(target_os = "none")]
pub(crate) fn init_boot_cpu() {
    control::switch_on();
    per_cpu::init_boot_cpu();
}
