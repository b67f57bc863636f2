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
mod move_boot_cpu;
#[cfg(target_os = "none")]
mod per_cpu;
#[cfg(target_os = "none")]
pub mod stacks;

pub use area::Area;

#[cfg(target_os = "none")]
pub use {
    move_boot_cpu::move_boot_cpu,
    per_cpu::{areas, blocks, current, memory_word},
};

#[cfg(target_os = "none")]
pub(crate) use per_cpu::{guards, set_guards};

/// Sets up the CPU that the kernel was started on, as CPU 0.
#[cfg(target_os = "none")]
pub(crate) fn init_boot_cpu() {
    control::switch_on();
    per_cpu::init_boot_cpu();
}
