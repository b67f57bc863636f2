//! Interrupts off for a while, and back as they were.

use core::marker::PhantomData;

use x86_64::instructions::interrupts;

use crate::cpu;

/// A CPU's word for its guards: how many live, times this, and in bit 0 whether interrupts were on
/// before the first. 0 without one. Only touched with interrupts off, so nothing gets between. Its
/// sums wrap: a check would cost more than the guard, and 2^31 guards do not fit on a stack.
const ONE: u32 = 2;

/// Keeps interrupts off on this CPU while it lives. Guards nest and may go in any order: interrupts
/// come back with the last.
#[derive(Debug)]
pub struct InterruptsOff {
    here: PhantomData<*mut ()>,
}

impl InterruptsOff {
    /// Switches interrupts off.
    #[inline]
    pub fn new() -> InterruptsOff {
        let were_on = interrupts::are_enabled();
        interrupts::disable();
        let guards = match cpu::guards() {
            0 => u32::from(were_on),
            guards => guards,
        };
        cpu::set_guards(guards.wrapping_add(ONE));
        InterruptsOff { here: PhantomData }
    }
}

impl Default for InterruptsOff {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for InterruptsOff {
    #[inline]
    fn drop(&mut self) {
        match cpu::guards().wrapping_sub(ONE) {
            last @ (0 | 1) => {
                cpu::set_guards(0);
                if last == 1 {
                    interrupts::enable();
                }
            }
            guards => cpu::set_guards(guards),
        }
    }
}
