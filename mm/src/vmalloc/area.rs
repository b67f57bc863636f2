//! An allocated area.

use crate::platform::MapSize;
use crate::sync::{AtomicU64, Ordering};
use crate::units::{PAGE_SIZE, VirtAddr};

use super::areas::{Area, GUARD};

/// Memory behind one range of addresses. Move-only; freeing takes it
/// ([`Vmalloc::free`](super::Vmalloc::free)). An area that is merely dropped is lost, and counted
/// as such.
#[must_use = "a dropped area is lost; free it or leak it"]
#[derive(Debug)]
pub struct VmArea<'a> {
    pub(super) info: AreaInfo,
    /// The owner's count of lost areas; also says who the owner is.
    pub(super) lost: &'a AtomicU64,
}

/// What is known of an area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AreaInfo {
    /// Its first byte; a multiple of the leaf's size.
    pub start: VirtAddr,
    /// Its size, a multiple of the leaf's; the guard page comes on top.
    pub bytes: u64,
    /// What its page table entries map.
    pub leaf: MapSize,
    /// Who asked for it.
    pub caller: &'static str,
}

impl AreaInfo {
    pub(super) fn new(area: &Area) -> AreaInfo {
        AreaInfo { start: area.start, bytes: area.bytes, leaf: area.leaf, caller: area.caller }
    }

    /// 4 KiB frames.
    pub const fn pages(&self) -> u64 {
        self.bytes / PAGE_SIZE
    }

    /// The addresses that it occupies, in bytes: guard included.
    pub const fn bytes_with_guard(&self) -> u64 {
        self.bytes + GUARD
    }
}

impl<'a> VmArea<'a> {
    pub(super) fn new(info: AreaInfo, lost: &'a AtomicU64) -> VmArea<'a> {
        VmArea { info, lost }
    }

    /// Where, how large, for whom.
    pub fn info(&self) -> AreaInfo {
        self.info
    }

    /// Its first byte.
    pub fn start(&self) -> VirtAddr {
        self.info.start
    }

    /// Its size in bytes, without the guard.
    pub fn bytes(&self) -> u64 {
        self.info.bytes
    }

    /// 4 KiB frames.
    pub fn pages(&self) -> u64 {
        self.info.pages()
    }

    /// Its memory: [`bytes`](Self::bytes) bytes, contents undefined unless the request was
    /// zeroed. The pointer is good as long as the area is neither freed nor dropped.
    pub fn as_ptr<T>(&self) -> *mut T {
        self.info.start.as_ptr()
    }

    /// Gives up ownership for good, or until [`Vmalloc::from_raw`](super::Vmalloc::from_raw).
    pub fn leak(self) -> VirtAddr {
        let start = self.info.start;
        core::mem::forget(self);
        start
    }
}

impl Drop for VmArea<'_> {
    fn drop(&mut self) {
        // Relaxed: a statistic.
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}
