//! `bitmap-allocator`, behind a mutex: it has no lock of its own.

use std::sync::{Mutex, PoisonError};

use bitmap_allocator::{BitAlloc, BitAlloc1M};

use crate::{FRAMES, Peer};

/// `bitmap-allocator`, behind a mutex.
pub struct Bitmap(Mutex<Box<BitAlloc1M>>);

impl Bitmap {
    /// With all its frames.
    #[allow(clippy::new_without_default)] // Not for use as a value.
    pub fn new() -> Bitmap {
        let mut bits = Box::new(BitAlloc1M::DEFAULT);
        bits.insert(0..FRAMES as usize);
        Bitmap(Mutex::new(bits))
    }
}

impl Peer for Bitmap {
    const NAME: &'static str = "bitmap-allocator";
    type Block = (usize, u8);
    type Local<'a> = ();

    fn has(&self, _: u8) -> bool {
        true
    }

    fn on_cpu<R>(&self, _: usize, work: impl FnOnce(&()) -> R) -> R {
        work(&())
    }

    #[inline]
    fn take(&self, (): &(), order: u8) -> Option<(usize, u8)> {
        let mut bits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = match order {
            0 => bits.alloc(),
            _ => bits.alloc_contiguous(None, 1 << order, order.into()),
        };
        Some((frame?, order))
    }

    #[inline]
    fn give(&self, (): &(), (frame, order): (usize, u8)) {
        let mut bits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match order {
            0 => bits.dealloc(frame),
            _ => bits.dealloc_contiguous(frame, 1 << order),
        };
    }
}
