//! Interrupts off for a while, and back as they were.

use core::marker::PhantomData;

use x86_64::instructions::interrupts;

/// Keeps interrupts off on this CPU while it lives. Nests.
#[derive(Debug)]
pub struct InterruptsOff {
    were_on: bool,
    here: PhantomData<*mut ()>,
}

impl InterruptsOff {
    /// Switches interrupts off.
    #[inline]
    pub fn new() -> InterruptsOff {
        let were_on = interrupts::are_enabled();
        interrupts::disable();
        InterruptsOff { were_on, here: PhantomData }
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
        if self.were_on {
            interrupts::enable();
        }
    }
}
