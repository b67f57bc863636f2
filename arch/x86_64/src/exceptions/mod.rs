//! Exceptions: whatever the CPU cannot go on with.
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
pub(crate) use stubs::{VECTORS, stub};

/// Where all stubs arrive.
#[unsafe(no_mangle)]
extern "C" fn exception_entry(frame: &mut ExceptionFrame) {
    if probe::resume(frame) || hook::resume(frame) {
        return;
    }
    fatal::end(frame)
}
