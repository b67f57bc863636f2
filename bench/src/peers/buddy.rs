//! `buddy_system_allocator`, behind its own spin lock.

use buddy_system_allocator::LockedFrameAllocator;

use crate::{FRAMES, Peer};

/// `buddy_system_allocator`, behind its own spin lock.
pub struct Buddy(LockedFrameAllocator<11>);

impl Buddy {
    /// With all its frames, in blocks of up to 2^10.
    #[allow(clippy::new_without_default)] // Not for use as a value.
    pub fn new() -> Buddy {
        let buddy = LockedFrameAllocator::new();
        buddy.lock().add_frame(0, FRAMES as usize);
        Buddy(buddy)
    }
}

impl Peer for Buddy {
    const NAME: &'static str = "buddy_system_allocator";
    type Block = (usize, u8);
    type Local<'a> = ();

    fn has(&self, order: u8) -> bool {
        order <= 10
    }

    fn on_cpu<R>(&self, _: usize, work: impl FnOnce(&()) -> R) -> R {
        work(&())
    }

    #[inline]
    fn take(&self, (): &(), order: u8) -> Option<(usize, u8)> {
        Some((self.0.lock().alloc(1 << order)?, order))
    }

    #[inline]
    fn give(&self, (): &(), (frame, order): (usize, u8)) {
        self.0.lock().dealloc(frame, 1 << order);
    }
}
