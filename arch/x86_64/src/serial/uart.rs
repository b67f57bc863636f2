//! A 16550 serial port, polled.

use core::fmt;

use x86_64::instructions::port::Port;

/// Offsets of the registers from the port's base.
mod register {
    pub const DATA: u16 = 0;
    pub const INTERRUPT_ENABLE: u16 = 1;
    pub const DIVISOR_LOW: u16 = 0;
    pub const DIVISOR_HIGH: u16 = 1;
    pub const FIFO_CONTROL: u16 = 2;
    pub const LINE_CONTROL: u16 = 3;
    pub const MODEM_CONTROL: u16 = 4;
    pub const LINE_STATUS: u16 = 5;
}

const LINE_DIVISOR: u8 = 0x80;
const LINE_8N1: u8 = 0x03;
/// 115200 baud.
const DIVISOR: u8 = 1;
const FIFO_ON_AND_CLEAR: u8 = 0x07;
/// Data terminal ready, request to send, and the two auxiliary outputs.
const MODEM_READY: u8 = 0x0f;
const MODEM_LOOP_BACK: u8 = 0x1f;
/// What loop-back is tried with: no constant that a floating bus would give.
const PROBE: u8 = 0xae;
/// How often a port is asked for the looped-back byte before it counts as absent.
const PROBE_POLLS: usize = 1000;
const STATUS_DATA_READY: u8 = 0x01;
const STATUS_EMPTY: u8 = 0x20;
/// Bytes that the transmitter takes at once when it is empty.
const FIFO_BYTES: usize = 16;

/// One port. Until [`Uart::init`] has found it, it swallows what is written.
#[derive(Debug)]
pub struct Uart {
    base: u16,
    present: bool,
    /// Bytes that fit before the status has to be read again.
    room: usize,
}

impl Uart {
    /// A port that is not looked for yet.
    ///
    /// # Safety
    /// At `base..base + 8` there is a 16550 or nothing, and nobody else drives it.
    pub const unsafe fn new(base: u16) -> Uart {
        Uart { base, present: false, room: 0 }
    }

    /// Sets the port up (115200 baud, 8 bits, no parity, FIFO on, no interrupts) and finds out by
    /// loop-back whether it is there.
    pub fn init(&mut self) {
        self.write(register::INTERRUPT_ENABLE, 0);
        self.write(register::LINE_CONTROL, LINE_DIVISOR);
        self.write(register::DIVISOR_LOW, DIVISOR);
        self.write(register::DIVISOR_HIGH, 0);
        self.write(register::LINE_CONTROL, LINE_8N1);
        self.write(register::FIFO_CONTROL, FIFO_ON_AND_CLEAR);
        self.write(register::MODEM_CONTROL, MODEM_LOOP_BACK);
        self.write(register::DATA, PROBE);
        self.present = (0..PROBE_POLLS).any(|_| self.status() & STATUS_DATA_READY != 0)
            && self.read(register::DATA) == PROBE;
        self.write(register::MODEM_CONTROL, MODEM_READY);
        self.room = 0;
    }

    /// Whether the port was found.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// Writes one byte; waits for room.
    pub fn send(&mut self, byte: u8) {
        if !self.present {
            return;
        }
        if self.room == 0 {
            // A reader that is slow holds the transmitter up: that is flow control, so wait.
            while self.status() & STATUS_EMPTY == 0 {
                core::hint::spin_loop();
            }
            self.room = FIFO_BYTES;
        }
        self.room -= 1;
        self.write(register::DATA, byte);
    }

    /// A byte that came in, if there is one.
    pub fn receive(&mut self) -> Option<u8> {
        (self.present && self.status() & STATUS_DATA_READY != 0).then(|| self.read(register::DATA))
    }

    fn status(&self) -> u8 {
        self.read(register::LINE_STATUS)
    }

    fn read(&self, register: u16) -> u8 {
        // SAFETY: the port is ours (`new`); reading a register of a 16550 does not touch memory.
        unsafe { Port::new(self.base + register).read() }
    }

    fn write(&mut self, register: u16, value: u8) {
        // SAFETY: the port is ours (`new`); with interrupts disabled in the device, a write to a
        // register of a 16550 does not touch memory.
        unsafe { Port::new(self.base + register).write(value) }
    }
}

impl fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.send(byte));
        Ok(())
    }
}
