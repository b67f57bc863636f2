//! The end of a kernel that cannot go on.

use core::fmt::Write;
use core::panic::PanicInfo;

use nearmem_x86_64::{exit, println, serial, stop};

/// A `Write` that keeps JSON strings whole: quotes, backslashes and control characters escaped.
struct Escaped<'a, W: Write>(&'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        text.chars().try_for_each(|c| match c {
            '"' | '\\' => write!(self.0, "\\{c}"),
            c if c < ' ' => write!(self.0, "\\u{:04x}", c as u32),
            c => self.0.write_char(c),
        })
    }
}

/// Stops the other CPUs and says on both ports what happened. Needs no heap.
pub fn report(info: &PanicInfo<'_>) {
    stop::others();
    // SAFETY: the kernel ends after this; nothing goes on that holds a port.
    unsafe { serial::break_locks() };
    println!("\n{info}");
    let mut port = serial::facts();
    let _ = write!(port, "{{\"type\":\"panic\",\"message\":\"");
    let _ = write!(Escaped(&mut port), "{info}");
    let _ = writeln!(port, "\"}}");
}

/// What a binary's panic handler calls: the report, and an end with the failure code.
pub fn end(info: &PanicInfo<'_>) -> ! {
    report(info);
    exit::failure()
}
