//! Words that one CPU writes and all may read.

use super::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

macro_rules! local_word {
    ($name:ident, $atomic:ident, $word:ty) => {
        /// A word with one writer at a time: the CPU that it belongs to, or whoever has proof that
        /// this CPU is not running. Readers elsewhere see some recent value.
        ///
        /// Plain loads and stores: no bus lock, no ordering. Two writers at once lose counts, but
        /// break nothing else.
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name($atomic);

        impl $name {
            /// A word with this value.
            #[cfg(not(loom))]
            pub const fn new(value: $word) -> $name {
                $name($atomic::new(value))
            }

            /// A word with this value.
            #[cfg(loom)]
            pub fn new(value: $word) -> $name {
                $name($atomic::new(value))
            }

            /// The value. Relaxed: it publishes nothing else.
            #[inline]
            pub fn get(&self) -> $word {
                self.0.load(Ordering::Relaxed)
            }

            /// Writes the value. Relaxed, as above.
            #[inline]
            pub fn set(&self, value: $word) {
                self.0.store(value, Ordering::Relaxed);
            }

            /// Adds, wrapping: a load and a store, not one atomic operation.
            #[inline]
            pub fn add(&self, count: $word) {
                self.set(self.get().wrapping_add(count));
            }
        }
    };
}

local_word!(LocalWord, AtomicU64, u64);
local_word!(LocalWord32, AtomicU32, u32);

/// A pointer with one writer, as [`LocalWord`]; null at first.
#[derive(Debug)]
#[repr(transparent)]
pub struct LocalPointer(AtomicPtr<()>);

impl LocalPointer {
    /// Null.
    #[cfg(not(loom))]
    pub const fn null() -> LocalPointer {
        LocalPointer(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// Null.
    #[cfg(loom)]
    pub fn null() -> LocalPointer {
        LocalPointer(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// The pointer. Relaxed: its own CPU wrote it.
    #[inline]
    pub fn get(&self) -> *const () {
        self.0.load(Ordering::Relaxed)
    }

    /// Writes the pointer. Relaxed, as above.
    #[inline]
    pub fn set(&self, value: *const ()) {
        self.0.store(value.cast_mut(), Ordering::Relaxed);
    }
}
