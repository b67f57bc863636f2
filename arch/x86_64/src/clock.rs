//! The time-stamp counter. Under emulation with instruction counting it counts nanoseconds of the
//! guest's clock: one for each instruction.

/// Ticks since some moment in the past.
#[inline]
pub fn ticks() -> u64 {
    // SAFETY: every 64-bit CPU has the counter, and ring 0 may read it.
    unsafe { core::arch::x86_64::_rdtsc() }
}
