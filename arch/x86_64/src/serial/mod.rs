//! The two serial ports: COM1 for people, COM2 for programs.
//!
//! In: text. Out: bytes on the wire, lines ending in `\n` alone. A port that is not there swallows
//! what it is given.

mod uart;

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use spin::{Mutex, MutexGuard};

use crate::clock;
use crate::interrupts::InterruptsOff;
pub use uart::Uart;

// SAFETY: 0x3f8 is where a PC has COM1, or nothing; only this static drives it.
static CONSOLE: Mutex<Uart> = Mutex::new(unsafe { Uart::new(0x3f8) });
// SAFETY: 0x2f8 is where a PC has COM2, or nothing; only this static drives it.
static FACTS: Mutex<Uart> = Mutex::new(unsafe { Uart::new(0x2f8) });

/// Ticks in which a port was held, up to the last time that one was released.
static HELD: AtomicU64 = AtomicU64::new(0);

/// A port for as long as it is held: nobody's output gets between, and interrupts are off.
#[derive(Debug)]
pub struct Port {
    since: u64,
    // In this order: the lock is released before interrupts come back.
    uart: MutexGuard<'static, Uart>,
    _interrupts: InterruptsOff,
}

impl Port {
    fn take(uart: &'static Mutex<Uart>) -> Port {
        let interrupts = InterruptsOff::new();
        Port { since: clock::ticks(), uart: uart.lock(), _interrupts: interrupts }
    }

    /// Whether there is such a port.
    pub fn is_present(&self) -> bool {
        self.uart.is_present()
    }

    /// A byte that came in, if there is one.
    pub fn receive(&mut self) -> Option<u8> {
        self.uart.receive()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        HELD.fetch_add(clock::ticks().saturating_sub(self.since), Relaxed);
    }
}

impl fmt::Write for Port {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.uart.write_str(text)
    }
}

/// COM1: boot log and monitor.
pub fn console() -> Port {
    Port::take(&CONSOLE)
}

/// COM2: one JSON object a line.
pub fn facts() -> Port {
    Port::take(&FACTS)
}

/// Ticks in which a port was held, all in all: what output has cost, its formatting included.
pub fn ticks_held() -> u64 {
    HELD.load(Relaxed)
}

/// Sets both ports up. The doors do it before the kernel's main function.
pub(crate) fn init() {
    CONSOLE.lock().init();
    FACTS.lock().init();
}

/// Breaks the locks of both ports, so that the last words of a kernel that panics get out although
/// the holder of a lock will never release it.
///
/// # Safety
/// The kernel is about to end: no other code goes on that holds a [`Port`].
pub unsafe fn break_locks() {
    // SAFETY: whoever holds a guard does not run on (the caller's promise), so no second `&mut`
    // to a port is in use at the same time.
    unsafe {
        CONSOLE.force_unlock();
        FACTS.force_unlock();
    }
}

#[doc(hidden)]
pub fn print(text: fmt::Arguments<'_>) {
    // `Uart::write_str` cannot fail; a `Display` that does has cut its own text short.
    let _ = fmt::Write::write_fmt(&mut console(), text);
}

/// Prints to COM1.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::serial::print(::core::format_args!($($text)*)) };
}

/// Prints a line to COM1.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($text:tt)*) => {
        $crate::serial::print(::core::format_args!("{}\n", ::core::format_args!($($text)*)))
    };
}
