//! The two 8259 interrupt controllers of a PC, which a BIOS leaves switched on: masked, and moved
//! away from the vectors of exceptions, in case one has something pending.

use x86_64::instructions::port::Port;

/// Their command and data ports.
const FIRST: (u16, u16) = (0x20, 0x21);
const SECOND: (u16, u16) = (0xa0, 0xa1);
/// Vectors for which there is no handler, and which do not come.
const VECTORS: u8 = 0x20;

/// Masks all their interrupts. Where there are none, the writes go nowhere.
pub fn mask() {
    for ((command, data), vectors, wiring) in [(FIRST, VECTORS, 1 << 2), (SECOND, VECTORS + 8, 2)] {
        // SAFETY: the initialisation sequence (begin, vectors, who is wired where, 8086 mode) and a
        // mask for all; it touches no memory, and interrupts are off.
        unsafe {
            Port::<u8>::new(command).write(0x11);
            Port::<u8>::new(data).write(vectors);
            Port::<u8>::new(data).write(wiring);
            Port::<u8>::new(data).write(1);
            Port::<u8>::new(data).write(0xff);
        }
    }
}
