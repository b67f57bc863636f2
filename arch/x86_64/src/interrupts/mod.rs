//! Interrupts: off for a while, and what is done when one comes.
//!
//! In: the inter-processor interrupts of [`Vector`]; nothing else is let through (`pic`, `apic`).
//! Out: calls of other CPUs done ([`crate::remote`]), and the kernel's function for being woken.

mod guard;
mod vectors;

pub use guard::InterruptsOff;
pub(crate) use vectors::{FIRST, handle};
pub use vectors::{Vector, on_wake};
pub use x86_64::instructions::interrupts::{disable, enable};
