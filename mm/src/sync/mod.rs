//! Atomics and the lock built of them; the only module that names either.
//!
//! Under `cfg(loom)` the atomics are loom's, so that the models in `tests/loom/` run the shipped
//! functions.

mod local_word;
mod spin_lock;

#[cfg(not(loom))]
pub use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

pub use local_word::{LocalPointer, LocalWord, LocalWord32};
pub use spin_lock::{SpinLock, SpinLockGuard};

/// Tells the processor (or the model) that the caller waits for another CPU.
pub fn relax() {
    #[cfg(not(loom))]
    core::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}
