//! The time-stamp counter. Under emulation with instruction counting it counts nanoseconds of the
//! guest's clock: one for each instruction.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counter when the kernel was entered. Written once, before anything else runs.
static ENTERED: AtomicU64 = AtomicU64::new(0);

/// Ticks since some moment in the past.
#[inline]
pub fn ticks() -> u64 {
    // SAFETY: every 64-bit CPU has the counter, and ring 0 may read it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Ticks since the kernel's first instruction.
pub fn since_entry() -> u64 {
    ticks().saturating_sub(ENTERED.load(Relaxed))
}

pub(crate) fn set_entry(ticks: u64) {
    ENTERED.store(ticks, Relaxed);
}
