//! A simulated machine in a host process: RAM that is filled with 0xA5, CPUs that are threads,
//! and a vmalloc range that really remaps.
//!
//! What flows in is a layout (nodes, their memory and CPUs, distances); what comes out is a
//! [`NodeMap`](crate::topology::NodeMap), a boot allocator and a [`SimPlatform`], so that all of
//! the crate runs as in a kernel. Any number of machines may live in one process.
//!
//! The module is for tests, examples and tools: its own misuse panics with a reason.
//!
//! ```
//! use nearmem::platform::PhysMap;
//! use nearmem::sim::SimMachine;
//! use nearmem::{CpuId, NodeId, PhysAddr};
//!
//! let machine = SimMachine::builder().node(64 << 20, 2).node(64 << 20, 2).build();
//! let map = machine.map();
//! assert_eq!(map.node_of(PhysAddr(100 << 20).pfn()), Some(NodeId(1)));
//! let byte = machine.platform().phys_to_virt(PhysAddr(100 << 20));
//! // SAFETY: the address is RAM of the machine, which nothing else uses yet.
//! assert_eq!(unsafe { byte.read() }, 0xa5);
//!
//! let mm = machine.start(&map, Default::default());
//! assert_eq!(mm.zones().len(), 3, "node 0: DMA and DMA32, node 1: DMA32");
//! ```

mod arena;
mod builder;
mod cpus;
mod machine;
#[cfg(not(miri))]
mod memory;
#[cfg(miri)]
#[path = "memory_miri.rs"]
mod memory;
mod page_tables;
mod platform;

pub use builder::{FILL_LIMIT, SimBuilder};
pub use cpus::SimPin;
pub use machine::SimMachine;
pub use platform::SimPlatform;
