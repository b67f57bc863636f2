//! Another kernel: it says where its RAM is, and gets a page allocator by node. Here its machine is
//! a piece of the host's memory: `cargo run -p nearmem --example other_kernel`.

use nearmem::alloc::{MemorySubsystem, Options, Policy, Request};
use nearmem::memblock::{self, MemBlock};
use nearmem::platform::{OneCpu, PhysMap};
use nearmem::topology::{self, NodeMap, NodeRange};
use nearmem::{NodeId, Order, PfnRange, PhysAddr, PhysRange};

/// RAM from address 0 on, at a fixed distance: a direct map.
struct Ram(usize);

// SAFETY: `main` allocates all 32 MiB and keeps them.
unsafe impl PhysMap for Ram {
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0 + addr.0 as usize)
    }
}

#[derive(Clone)]
#[repr(align(4096))]
#[allow(dead_code)] // Read and written through the direct map only.
struct Frame([u8; 4096]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ram = Box::leak(vec![Frame([0; 4096]); 0x2000].into_boxed_slice()).as_mut_ptr();
    // Two nodes of 16 MiB, 20 apart; the CPU that runs is near node 0.
    let frames = [PfnRange::new(1, 0x1000), PfnRange::new(0x1000, 0x2000)];
    let ranges = [0, 1].map(|node| NodeRange { frames: frames[node], node: NodeId(node as u16) });
    let (mut map_ranges, mut distances) = ([NodeRange::NONE; 2], [0; 4]);
    let room = topology::Storage {
        ranges: &mut map_ranges,
        distances: &mut distances,
        ..topology::Storage::default()
    };
    let map = NodeMap::from_parts(&ranges, &[], |from, to| if from == to { 10 } else { 20 }, room);

    // Boot memory: all of it but the kernel's own megabyte.
    let (mut memory, mut reserved) = ([NodeRange::NONE; 2], [PhysRange::default(); 64]);
    let room = memblock::Storage { memory: &mut memory, reserved: &mut reserved };
    let mut boot_memory = MemBlock::new(&map, room);
    boot_memory.reserve(PhysRange::new(0, 1 << 20))?;

    // SAFETY: one thread; the RAM is nobody else's and stays for good.
    let mm = unsafe {
        let platform = OneCpu::new(Ram(ram.expose_provenance()));
        MemorySubsystem::hand_over(boot_memory, &map, platform, Options::default())?
    };
    mm.set_up_pagesets()?;

    let near = mm.alloc(&Request::new(Order::ZERO))?;
    let far = mm.alloc(&Request::new(Order::HUGE).on(Policy::Preferred(NodeId(1))).zeroed())?;
    assert_eq!((near.zone().node, far.zone().node), (NodeId(0), NodeId(1)));
    println!("a page: {near:?}\n2 MiB of zeros: {far:?}");
    mm.free(near)?;
    mm.free(far)?;
    Ok(())
}
