//! Ending the virtual machine with an exit code.

use x86_64::instructions::{hlt, interrupts, port::Port};

/// ACPI's PM1a control register in QEMU's `q35` and `pc` machines.
const POWER_OFF_PORT: u16 = 0x604;
/// SLP_EN with the sleep type of S5 (ACPI 6.5, 4.8.3.2.1), which is 0 there.
const POWER_OFF: u16 = 0x2000;
/// The port of QEMU's `isa-debug-exit`, as the launcher configures it.
const DEBUG_EXIT_PORT: u16 = 0xf4;
/// QEMU exits with code 2 * value + 1: 33.
const DEBUG_EXIT_FAILURE: u32 = 0x10;

/// Powers off; QEMU exits with code 0.
pub fn success() -> ! {
    // SAFETY: writing the power-off request to a port does not touch memory, and nothing that
    // could be harmed runs afterwards.
    unsafe { Port::<u16>::new(POWER_OFF_PORT).write(POWER_OFF) };
    halt()
}

/// Ends QEMU with code 33; without its debug-exit device the CPU halts.
pub fn failure() -> ! {
    // SAFETY: as above; where no such device is, the write has no effect.
    unsafe { Port::<u32>::new(DEBUG_EXIT_PORT).write(DEBUG_EXIT_FAILURE) };
    halt()
}

/// Stops this CPU for good.
pub fn halt() -> ! {
    interrupts::disable();
    loop {
        hlt();
    }
}
