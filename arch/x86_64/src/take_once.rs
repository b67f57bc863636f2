//! A static that is given away, once, as an exclusive reference.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value for the first who asks.
pub struct TakeOnce<T> {
    value: UnsafeCell<T>,
    taken: AtomicBool,
}

// SAFETY: only `take` reaches the value, and only once, so that it goes to one thread at most;
// hence `Send` is enough.
unsafe impl<T: Send> Sync for TakeOnce<T> {}

impl<T> TakeOnce<T> {
    /// A value that is there to be taken.
    pub const fn new(value: T) -> TakeOnce<T> {
        TakeOnce { value: UnsafeCell::new(value), taken: AtomicBool::new(false) }
    }

    /// The value, to the first who asks; `None` to all others.
    #[allow(clippy::mut_from_ref)] // given out once only
    pub fn take(&'static self) -> Option<&'static mut T> {
        // Relaxed: the flag guards against a second call only; nothing was written for it to see.
        let first = !self.taken.swap(true, Ordering::Relaxed);
        // SAFETY: this is the first and only time that a reference to the value is made.
        first.then(|| unsafe { &mut *self.value.get() })
    }
}

#[cfg(test)]
mod tests {
    use super::TakeOnce;

    #[test]
    fn only_the_first_gets_it() {
        static VALUE: TakeOnce<u32> = TakeOnce::new(7);
        assert_eq!(VALUE.take(), Some(&mut 7));
        assert_eq!(VALUE.take(), None);
    }
}
