//! Frames that are on their way somewhere: a list whose links lie in the frames themselves, so
//! that it takes no memory, however long it gets.

use crate::alloc::MemorySubsystem;
use crate::platform::Platform;
use crate::units::{Order, Pfn};

use super::fill::free;

/// Blocks that belong to the list, last in first out.
pub(super) struct FrameList<'a, P> {
    platform: &'a P,
    first: Option<Pfn>,
}

/// What the first bytes of a block in the list hold.
#[repr(C)]
struct Link {
    next: Option<Pfn>,
    order: Order,
}

impl<'a, P: Platform> FrameList<'a, P> {
    pub(super) fn new(platform: &'a P) -> FrameList<'a, P> {
        FrameList { platform, first: None }
    }

    /// Adds a block.
    ///
    /// # Safety
    /// The block is RAM of the platform and belongs to the list until it is popped; what it holds
    /// is lost.
    pub(super) unsafe fn push(&mut self, block: Pfn, order: Order) {
        // SAFETY: the block is ours, and a frame is aligned for a link.
        unsafe { self.link(block).write(Link { next: self.first, order }) };
        self.first = Some(block);
    }

    /// Takes the block that was added last.
    pub(super) fn pop(&mut self) -> Option<(Pfn, Order)> {
        let block = self.first?;
        // SAFETY: blocks of the list hold a link.
        let Link { next, order } = unsafe { self.link(block).read() };
        self.first = next;
        Some((block, order))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Frees all blocks. What led to them was flushed out of all TLBs before.
    pub(super) fn free(&mut self, mm: &MemorySubsystem<'_, P>) {
        while let Some((block, order)) = self.pop() {
            // SAFETY: blocks of a list of vmalloc's are allocated, leaked, and in no mapping.
            unsafe { free(mm, block, order) };
        }
    }

    fn link(&self, block: Pfn) -> *mut Link {
        self.platform.phys_to_virt(block.addr()).cast()
    }
}
