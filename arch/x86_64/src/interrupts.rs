//! Interrupts off for a while, and back as they were.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use x86_64::instructions::interrupts;

/// How many guards live, and whether interrupts were on before the first. Of the one CPU that runs;
/// only used with interrupts off, so nothing gets between.
static DEPTH: AtomicU32 = AtomicU32::new(0);
static WERE_ON: AtomicBool = AtomicBool::new(false);

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
        let depth = DEPTH.load(Relaxed);
        if depth == 0 {
            WERE_ON.store(were_on, Relaxed);
        }
        DEPTH.store(depth + 1, Relaxed);
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
        let left = DEPTH.load(Relaxed) - 1;
        DEPTH.store(left, Relaxed);
        if left == 0 && WERE_ON.load(Relaxed) {
            interrupts::enable();
        }
    }
}
