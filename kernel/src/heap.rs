//! The kernel's general heap: `linked_list_allocator` on blocks of the page allocator.
//!
//! It grows by whole blocks, which are not neighbours; so it is a list of arenas, each one block.
//! Blocks are never given back. One allocation has at most 4 MiB less a little.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use linked_list_allocator::Heap;
use nearmem::alloc::{AllocError, Request};
use nearmem::{Order, PAGE_SIZE, Pfn};
use nearmem_x86_64::paging::direct_map;
use spin::Mutex;

use crate::Memory;

/// How many times the heap can grow.
const ARENAS: usize = 64;
/// The first arenas have 64 KiB.
const FIRST: Order = Order::new(4).unwrap();

/// The heap behind `alloc`.
pub struct KernelHeap {
    arenas: Mutex<Arenas>,
}

struct Arenas {
    memory: Option<&'static Memory>,
    heaps: [Heap; ARENAS],
    used: usize,
}

#[cfg_attr(target_os = "none", global_allocator)]
static HEAP: KernelHeap = KernelHeap {
    arenas: Mutex::new(Arenas { memory: None, heaps: [const { Heap::empty() }; ARENAS], used: 0 }),
};

/// Gives the heap its page allocator. Before this every allocation fails.
pub fn init(memory: &'static Memory) {
    HEAP.arenas.lock().memory = Some(memory);
}

/// Bytes that the heap has taken from the page allocator, and how many of them are in use.
pub fn size_and_used() -> (usize, usize) {
    let arenas = HEAP.arenas.lock();
    let heaps = &arenas.heaps[..arenas.used];
    (heaps.iter().map(Heap::size).sum(), heaps.iter().map(Heap::used).sum())
}

impl Arenas {
    fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let fit = |heaps: &mut [Heap]| {
            heaps.iter_mut().rev().find_map(|heap| heap.allocate_first_fit(layout).ok())
        };
        if let Some(found) = fit(&mut self.heaps[..self.used]) {
            return Some(found);
        }
        self.grow(layout).ok()?;
        fit(&mut self.heaps[self.used - 1..self.used])
    }

    /// One arena more: as large as all so far, and large enough for `layout`.
    fn grow(&mut self, layout: Layout) -> Result<(), AllocError> {
        let none = AllocError::NoMemory { order: Order::MAX, free: 0 };
        let (Some(memory), true) = (self.memory, self.used < ARENAS) else { return Err(none) };
        let needed = layout.size().saturating_add(layout.align()).saturating_add(64) as u64;
        let needed = Order::for_bytes(needed).ok_or(none)?;
        let wanted = Order::new(FIRST.get() + self.used as u8).unwrap_or(Order::MAX).max(needed);
        let block =
            memory.alloc(&Request::new(wanted)).or_else(|_| memory.alloc(&Request::new(needed)))?;
        let bytes = block.order().bytes() as usize;
        let start: Pfn = block.leak();
        let pointer = direct_map(start.addr());
        debug_assert!(pointer.addr().is_multiple_of(PAGE_SIZE as usize));
        // SAFETY: the block was just allocated and leaked: `bytes` bytes behind the direct map that
        // are this arena's for good.
        unsafe { self.heaps[self.used].init(pointer, bytes) };
        self.used += 1;
        Ok(())
    }

    fn owner(&mut self, pointer: *mut u8) -> Option<&mut Heap> {
        self.heaps[..self.used]
            .iter_mut()
            .find(|heap| (heap.bottom()..heap.top()).contains(&pointer))
    }
}

// SAFETY: memory comes from arenas that belong to the heap alone, under one lock; `Heap` keeps to
// the layout.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.arenas.lock().allocate(layout).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let mut arenas = self.arenas.lock();
        if let (Some(heap), Some(pointer)) = (arenas.owner(pointer), NonNull::new(pointer)) {
            // SAFETY: the caller got `pointer` from `alloc` with this layout, and the arena that
            // it lies in is the one that gave it out.
            unsafe { heap.deallocate(pointer, layout) };
        }
    }
}
