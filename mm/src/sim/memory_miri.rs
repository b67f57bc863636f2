//! RAM of a simulated machine under Miri: plain allocations, and nothing can be mapped.

use core::ops::Range;
use std::alloc::{Layout, alloc, dealloc};
use std::vec::Vec;

use crate::topology::NodeRange;
use crate::units::{Order, PAGE_SIZE, Pfn, PfnRange, PhysAddr, VirtAddr};

pub(super) struct Memory {
    /// One for each piece of RAM without holes.
    pieces: Vec<(PfnRange, *mut u8)>,
}

// SAFETY: the pointers are to allocations that belong to this value; using them is up to those
// who get them from it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

fn layout(frames: PfnRange) -> Layout {
    let bytes = (frames.len() * PAGE_SIZE) as usize;
    Layout::from_size_align(bytes, Order::MAX.bytes() as usize).expect("size of RAM")
}

impl Memory {
    /// Whether [`Memory::map`] does anything.
    pub(super) const MAPS: bool = false;

    /// RAM for these ranges (ascending), filled with 0xA5 if so wanted, otherwise undefined.
    pub(super) fn new(ranges: &[NodeRange], fill: bool) -> Memory {
        let mut pieces: Vec<PfnRange> = Vec::new();
        for range in ranges {
            match pieces.last_mut() {
                Some(piece) if piece.end == range.frames.start => piece.end = range.frames.end,
                _ => pieces.push(range.frames),
            }
        }
        let pieces = pieces.into_iter().map(|frames| {
            // SAFETY: the size is not 0: no range is empty.
            let at = unsafe { alloc(layout(frames)) };
            assert!(!at.is_null(), "no memory for this machine");
            if fill {
                // SAFETY: the bytes were allocated just now.
                unsafe { at.write_bytes(0xa5, layout(frames).size()) };
            }
            (frames, at)
        });
        Memory { pieces: pieces.collect() }
    }

    /// The pointer to a byte of RAM; null for what is none.
    pub(super) fn pointer(&self, addr: PhysAddr) -> *mut u8 {
        let piece = self.pieces.iter().find(|(frames, _)| frames.contains(addr.pfn()));
        piece.map_or(core::ptr::null_mut(), |&(frames, at)| {
            at.wrapping_add((addr.0 - frames.start.addr().0) as usize)
        })
    }

    /// Addresses that are never used.
    pub(super) fn window(&self) -> Range<VirtAddr> {
        VirtAddr(1 << 40)..VirtAddr((1 << 40) + (64 << 30))
    }

    pub(super) fn map(&self, _: VirtAddr, _: Pfn, _: u64) {
        unreachable!("nothing can be mapped under Miri")
    }

    pub(super) fn unmap(&self, _: VirtAddr, _: u64) {
        unreachable!("nothing can be mapped under Miri")
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for &(frames, at) in &self.pieces {
            // SAFETY: allocated with this layout in `new`.
            unsafe { dealloc(at, layout(frames)) };
        }
    }
}
