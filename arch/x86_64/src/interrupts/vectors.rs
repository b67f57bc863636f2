//! Which interrupts there are, and what they do.

use spin::Once;

use crate::{apic, remote};

/// The first vector of interrupts; from here on to 255 there are stubs.
pub(crate) const FIRST: u8 = 0xf0;

/// The interrupts that the kernel knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Vector {
    /// Wakes a CPU that sleeps, and has it do what the kernel's function of [`on_wake`] does.
    Wake = 0xf0,
    /// There is a call for this CPU.
    Call = 0xf1,
    /// What a local APIC delivers when the interrupt that it wanted to deliver has gone (Intel SDM
    /// volume 3, 11.9). Nothing is done, and it is not acknowledged.
    Spurious = 0xff,
}

static ON_WAKE: Once<fn()> = Once::new();

/// Says what a CPU does when it is woken, with interrupts off, whatever it is at. The first one
/// counts.
pub fn on_wake(work: fn()) {
    ON_WAKE.call_once(|| work);
}

/// Handles an interrupt on the stack of what it interrupted, interrupts off.
pub(crate) fn handle(vector: u8) {
    match vector {
        vector if vector == Vector::Wake as u8 => ON_WAKE.get().into_iter().for_each(|work| work()),
        vector if vector == Vector::Call as u8 => remote::serve(),
        // Nobody sends the others.
        _ => return,
    }
    apic::end_of_interrupt();
}
