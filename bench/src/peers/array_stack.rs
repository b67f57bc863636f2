//! An array of free frames behind a mutex: the least that a shared allocator of single frames can do.
//! All ratios are to it.

use std::sync::{Mutex, PoisonError};

use crate::{FRAMES, Peer};

/// An array of free frames, last in first out, behind a mutex.
pub struct ArrayStack(Mutex<Vec<u64>>);

impl ArrayStack {
    /// With all its frames, the lowest on top.
    #[allow(clippy::new_without_default)] // Not for use as a value.
    pub fn new() -> ArrayStack {
        ArrayStack(Mutex::new((0..FRAMES).rev().collect()))
    }
}

impl Peer for ArrayStack {
    const NAME: &'static str = "mutexed array stack";
    type Block = u64;
    type Local<'a> = ();

    fn has(&self, order: u8) -> bool {
        order == 0
    }

    fn on_cpu<R>(&self, _: usize, work: impl FnOnce(&()) -> R) -> R {
        work(&())
    }

    #[inline]
    fn take(&self, (): &(), _: u8) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    #[inline]
    fn give(&self, (): &(), frame: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(frame);
    }
}
