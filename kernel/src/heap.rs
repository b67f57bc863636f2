//! The kernel's general heap: `linked_list_allocator` on blocks of the page allocator.
//!
//! It grows by whole blocks, which are not neighbours; so it is a list of arenas, each one block.
//! Blocks are never given back. One allocation has at most 4 MiB less a little. Not for interrupt
//! handlers, and not with a token held.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use linked_list_allocator::Heap;
use nearmem::Order;
use nearmem::alloc::{FrameBlock, Request};
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
    fn fit(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let heaps = self.heaps[..self.used].iter_mut().rev();
        heaps.into_iter().find_map(|heap| heap.allocate_first_fit(layout).ok())
    }

    /// Makes an arena of a block; without room for one the block comes back.
    fn add(&mut self, block: FrameBlock<'static>) -> Result<(), FrameBlock<'static>> {
        let Some(heap) = self.heaps.get_mut(self.used) else { return Err(block) };
        let bytes = block.order().bytes() as usize;
        let pointer = direct_map(block.leak().addr());
        // SAFETY: the block was just allocated and leaked: `bytes` bytes behind the direct map that
        // are this arena's for good.
        unsafe { heap.init(pointer, bytes) };
        self.used += 1;
        Ok(())
    }

    fn owner(&mut self, pointer: *mut u8) -> Option<&mut Heap> {
        self.heaps[..self.used]
            .iter_mut()
            .find(|heap| (heap.bottom()..heap.top()).contains(&pointer))
    }
}

impl KernelHeap {
    /// One arena more: as large as all so far, and large enough for `layout`. The lock is open
    /// while the page allocator works, which may wait for other CPUs; when two grow the heap at
    /// once, it has grown twice.
    fn grow(&self, layout: Layout) -> Option<()> {
        let (memory, used) = {
            let arenas = self.arenas.lock();
            (arenas.memory?, arenas.used)
        };
        let needed = layout.size().saturating_add(layout.align()).saturating_add(64) as u64;
        let needed = Order::for_bytes(needed)?;
        let wanted = Order::new(FIRST.get().saturating_add(used as u8)).unwrap_or(Order::MAX);
        let block = memory
            .alloc(&Request::new(wanted.max(needed)))
            .or_else(|_| memory.alloc(&Request::new(needed)))
            .ok()?;
        let added = self.arenas.lock().add(block);
        added.map_err(|block| memory.free(block)).ok()
    }
}

// SAFETY: memory comes from arenas that belong to the heap alone, under one lock; `Heap` keeps to
// the layout.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        loop {
            if let Some(found) = self.arenas.lock().fit(layout) {
                return found.as_ptr();
            }
            if self.grow(layout).is_none() {
                return null_mut();
            }
        }
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
