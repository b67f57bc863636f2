//! Memory that lives as long as the machine, for the storage that the crate asks its caller for.

use std::boxed::Box;
use std::sync::Mutex;
use std::vec::Vec;

/// Hands out slices and keeps them until it is dropped.
#[derive(Default)]
pub(super) struct Arena {
    owned: Mutex<Vec<Owned>>,
}

/// A slice that was handed out: what it takes to free it.
struct Owned {
    slice: *mut (),
    len: usize,
    // SAFETY contract: called once, with `slice` and `len` of the box that it came from.
    free: unsafe fn(*mut (), usize),
}

// SAFETY: the pointer is only used to free the slice, whose elements are `Send`.
unsafe impl Send for Owned {}

impl Arena {
    /// A slice of `len` default values, good for as long as the arena is borrowed.
    #[allow(clippy::mut_from_ref)] // Every call makes a new slice.
    pub(super) fn slice<T: Copy + Default + Send + 'static>(&self, len: usize) -> &mut [T] {
        /// # Safety
        /// `slice` and `len` come from `Box::<[T]>::into_raw` and nobody uses them any more.
        unsafe fn free<T>(slice: *mut (), len: usize) {
            let slice = core::ptr::slice_from_raw_parts_mut(slice.cast::<T>(), len);
            // SAFETY: see above.
            drop(unsafe { Box::from_raw(slice) });
        }
        let slice = Box::into_raw(std::vec![T::default(); len].into_boxed_slice());
        let owned = Owned { slice: slice.cast(), len, free: free::<T> };
        self.owned.lock().unwrap().push(owned);
        // SAFETY: the box is kept until the arena is dropped, and this is its only borrow.
        unsafe { &mut *slice }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for owned in self.owned.get_mut().unwrap().drain(..) {
            // SAFETY: the three belong together, and the borrows of the arena have ended.
            unsafe { (owned.free)(owned.slice, owned.len) };
        }
    }
}
