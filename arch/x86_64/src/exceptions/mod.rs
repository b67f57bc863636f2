//! Exceptions: whatever the CPU cannot go on with. Interrupts come in by the same door and go on to
//! `interrupts`.
//!
//! In: one of the 32 vectors, on a stack of its own. Out: on with the interrupted code, if a
//! [`probe`] or the hook of a test expected it; otherwise all registers on COM1 and a panic, which
//! ends QEMU with the failure code.

mod fatal;
mod frame;
mod hook;
mod names;
pub mod probe;
mod stubs;

pub use frame::ExceptionFrame;
pub use hook::{Hook, set_hook};
pub use names::name;
pub(crate) use stubs::stub;

use crate::interrupts::{self, FIRST};
use crate::stop;

/// The vector of a non-maskable interrupt, by which other CPUs stop this one.
const NMI: u64 = 2;

/// Where all stubs arrive.
#[unsafe(no_mangle)]
extern "C" fn exception_entry(frame: &mut ExceptionFrame) {
    if let Ok(vector @ FIRST..) = u8::try_from(frame.vector) {
        return interrupts::handle(vector);
    }
    if frame.vector == NMI {
        stop::here_if_asked();
    }
    if probe::resume(frame) || hook::resume(frame) {
        return;
    }
    fatal::end(frame)
}
