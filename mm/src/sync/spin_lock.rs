//! A lock that spins.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

#[cfg(not(loom))]
use core::cell::UnsafeCell;
#[cfg(loom)]
use loom::cell::UnsafeCell;

use super::{AtomicBool, Ordering, relax};

/// Mutual exclusion by spinning. It does not switch interrupts off: what is locked in interrupt
/// handlers, too, is locked under a [`CpuToken`](crate::platform::CpuToken) only.
#[derive(Debug)]
pub struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives the value to one thread at a time, so sharing the lock only ever sends
// the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}
// SAFETY: the lock owns its value.
unsafe impl<T: Send> Send for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// An open lock around `value`.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> SpinLock<T> {
        SpinLock { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// An open lock around `value`.
    #[cfg(loom)]
    pub fn new(value: T) -> SpinLock<T> {
        SpinLock { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until the lock is open and closes it behind the caller.
    pub fn lock(&self) -> SpinLockGuard<'_, T> {
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            // Read only while waiting, so that the cache line stays shared.
            while self.locked.load(Ordering::Relaxed) {
                relax();
            }
        }
    }

    /// Closes the lock if it is open.
    pub fn try_lock(&self) -> Option<SpinLockGuard<'_, T>> {
        // Acquire pairs with the Release in `drop`: what the last holder wrote is seen.
        self.locked
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|_| SpinLockGuard { lock: self, here: PhantomData })
    }

    /// The value, without locking: a unique borrow proves that nobody else is there.
    #[cfg(not(loom))]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// The right to use what the lock protects, until it is dropped. It stays on its CPU.
#[derive(Debug)]
pub struct SpinLockGuard<'a, T> {
    lock: &'a SpinLock<T>,
    here: PhantomData<*mut ()>,
}

// SAFETY: a shared guard gives `&T` and no more.
unsafe impl<T: Sync> Sync for SpinLockGuard<'_, T> {}

impl<T> Deref for SpinLockGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so this thread holds the lock, and the borrow of the guard
        // keeps it from being used mutably meanwhile.
        #[cfg(not(loom))]
        unsafe {
            &*self.lock.value.get()
        }
        // SAFETY: as above; loom checks it.
        #[cfg(loom)]
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for SpinLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard exists, so this thread holds the lock, and it is borrowed mutably.
        #[cfg(not(loom))]
        unsafe {
            &mut *self.lock.value.get()
        }
        // SAFETY: as above; loom checks it.
        #[cfg(loom)]
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for SpinLockGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.locked.store(false, Ordering::Release);
    }
}
