//! The traits of crate `x86_64`, which its page tables ask for frames, on one node of a machine:
//! `cargo run -p nearmem --example x86_64_frames --features sim`.

use nearmem::alloc::{FrameBlock, MemorySubsystem, Options, Policy, Request};
use nearmem::platform::CpuPlatform;
use nearmem::sim::SimMachine;
use nearmem::{NodeId, Order};
use x86_64::PhysAddr;
use x86_64::structures::paging::{
    FrameAllocator, FrameDeallocator, PageSize, PhysFrame, Size2MiB, Size4KiB,
};

/// Frames of one node, or of the nearest to it.
struct NodeFrames<'a, 'm, P: CpuPlatform> {
    mm: &'a MemorySubsystem<'m, P>,
    node: NodeId,
}

/// The order of a frame of this size; `None` for 1 GiB, which is more than one block.
fn order<S: PageSize>() -> Option<Order> {
    Order::for_bytes(S::SIZE)
}

// SAFETY: the subsystem gives each frame once.
unsafe impl<S: PageSize, P: CpuPlatform> FrameAllocator<S> for NodeFrames<'_, '_, P> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<S>> {
        let request = Request::new(order::<S>()?).on(Policy::Preferred(self.node));
        let block = self.mm.alloc(&request).ok()?;
        PhysFrame::from_start_address(PhysAddr::new(block.leak().addr().0)).ok()
    }
}

impl<S: PageSize, P: CpuPlatform> FrameDeallocator<S> for NodeFrames<'_, '_, P> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<S>) {
        let pfn = nearmem::PhysAddr(frame.start_address().as_u64()).pfn();
        let order = order::<S>().expect("a size that this allocator gives");
        // SAFETY: the caller says that the frame is unused, and that it came from here, where it
        // was leaked.
        let block = unsafe { FrameBlock::from_raw(self.mm, pfn, order) };
        block.and_then(|block| self.mm.free(block)).expect("a frame of this allocator");
    }
}

fn main() {
    let machine = SimMachine::builder().node(64 << 20, 1).node(64 << 20, 1).build();
    let map = machine.map();
    let mm = machine.start(&map, Options::default());
    let mut frames = NodeFrames { mm: &mm, node: NodeId(1) };

    let table: PhysFrame<Size4KiB> = frames.allocate_frame().expect("a page table");
    let large: PhysFrame<Size2MiB> = frames.allocate_frame().expect("a large page");
    println!("a page table at {table:?}, a large page at {large:?}");
    for start in [table.start_address(), large.start_address()] {
        assert_eq!(map.node_of(nearmem::PhysAddr(start.as_u64()).pfn()), Some(NodeId(1)));
    }
    // SAFETY: nobody uses them.
    unsafe {
        frames.deallocate_frame(table);
        frames.deallocate_frame(large);
    }
    assert!(mm.zones().iter().all(|zone| zone.leaked() == 0));
}
