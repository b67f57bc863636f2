//! The one [`Storage`] of the kernel image.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use super::Storage;

struct Place {
    storage: UnsafeCell<Storage>,
    taken: AtomicBool,
}

// SAFETY: only `take_storage` reaches the cell, and it lets only one caller do so.
unsafe impl Sync for Place {}

static PLACE: Place =
    Place { storage: UnsafeCell::new(Storage::new()), taken: AtomicBool::new(false) };

/// The storage, to the first who asks.
pub(crate) fn take_storage() -> Option<&'static mut Storage> {
    // Relaxed: the flag guards against a second call only; nothing was written for it to see.
    let first = !PLACE.taken.swap(true, Ordering::Relaxed);
    // SAFETY: this is the first and only time that a reference to the content is made.
    first.then(|| unsafe { &mut *PLACE.storage.get() })
}
