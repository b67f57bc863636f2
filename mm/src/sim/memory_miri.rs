//! RAM and the vmalloc range of a simulated machine under Miri: plain allocations.
//!
//! Miri cannot show memory at two addresses. So a frame that is mapped moves: its contents are
//! copied to the vmalloc range, and back when it is unmapped. Who looks at it through the direct map
//! meanwhile sees what it was before; who looks at the range afterwards reads what is not
//! initialised, to which Miri objects.

use core::mem::MaybeUninit;
use core::ops::Range;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::vec::Vec;

use crate::topology::NodeRange;
use crate::units::{Order, PAGE_SIZE, Pfn, PfnRange, PhysAddr, VirtAddr};

/// Bytes of the vmalloc range.
const WINDOW: usize = 64 << 20;

/// The window lies within one GiB, so that one page directory serves it. Miri knows no larger
/// alignment.
const WINDOW_LAYOUT: Layout = match Layout::from_size_align(WINDOW, 512 << 20) {
    Ok(layout) => layout,
    Err(_) => panic!("512 MiB is a power of two"),
};

pub(super) struct Memory {
    /// One for each piece of RAM without holes.
    pieces: Vec<(PfnRange, *mut u8)>,
    window: *mut u8,
    /// By address, the first frame of what is mapped there.
    mapped: Mutex<BTreeMap<u64, Pfn>>,
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
        let pieces = pieces.collect();
        // SAFETY: the size is not 0.
        let window = unsafe { alloc(WINDOW_LAYOUT) };
        assert!(!window.is_null(), "no memory for the vmalloc range");
        Memory { pieces, window, mapped: Mutex::default() }
    }

    /// The pointer to a byte of RAM; null for what is none.
    pub(super) fn pointer(&self, addr: PhysAddr) -> *mut u8 {
        let piece = self.pieces.iter().find(|(frames, _)| frames.contains(addr.pfn()));
        piece.map_or(core::ptr::null_mut(), |&(frames, at)| {
            at.wrapping_add((addr.0 - frames.start.addr().0) as usize)
        })
    }

    /// The vmalloc range.
    pub(super) fn window(&self) -> Range<VirtAddr> {
        let start = VirtAddr(self.window.expose_provenance() as u64);
        start..start + WINDOW as u64
    }

    /// Moves frames to the vmalloc range.
    pub(super) fn map(&self, at: VirtAddr, pfn: Pfn, bytes: u64) {
        let (from, to) = (self.pointer(pfn.addr()), self.in_window(at, bytes));
        // SAFETY: both are allocations of this value with so many bytes, and the frames are the
        // caller's, as is the range.
        unsafe { to.copy_from_nonoverlapping(from, bytes as usize) };
        self.mapped.lock().unwrap().insert(at.0, pfn);
    }

    /// Moves frames back.
    pub(super) fn unmap(&self, at: VirtAddr, bytes: u64) {
        let pfn = self.mapped.lock().unwrap().remove(&at.0).expect("it is mapped");
        let (from, to) = (self.in_window(at, bytes), self.pointer(pfn.addr()));
        let nothing = [const { MaybeUninit::<u8>::uninit() }; PAGE_SIZE as usize];
        // SAFETY: as in `map`.
        unsafe {
            to.copy_from_nonoverlapping(from, bytes as usize);
            let pages = from.cast::<[MaybeUninit<u8>; PAGE_SIZE as usize]>();
            (0..(bytes / PAGE_SIZE) as usize).for_each(|page| pages.add(page).write(nothing));
        }
    }

    fn in_window(&self, at: VirtAddr, bytes: u64) -> *mut u8 {
        let window = self.window();
        assert!(window.start <= at && at.0 + bytes <= window.end.0, "{at:?} not vmalloc");
        self.window.wrapping_add((at.0 - window.start.0) as usize)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for &(frames, at) in &self.pieces {
            // SAFETY: allocated with this layout in `new`.
            unsafe { dealloc(at, layout(frames)) };
        }
        // SAFETY: as above.
        unsafe { dealloc(self.window, WINDOW_LAYOUT) };
    }
}
