//! vmalloc: scattered frames, mapped into one range of addresses.
//!
//! In: a size, a policy, and whether zeros and 2 MiB pages are wanted. Out: a [`VmArea`], which
//! whoever asked owns, or a [`VmallocError`] that says what was missing, with nothing left behind.
//!
//! ```text
//! request    what is asked for           allocator   alloc, free, areas
//! areas      which addresses are used    slab        memory for the records of areas
//! build      an area comes and goes      fill        its frames, in the policy's order
//! tables     frames for page tables      frame_list  frames on their way back
//! area       the result                  node_pages  its pages by node
//! ```
//!
//! The rules are Linux's (reference: vmalloc), with these differences: an area's frames are found
//! through the page tables, so there is no array of pages; freeing flushes the TLB before a frame
//! or an address goes elsewhere, each time; empty page tables are given back.
//!
//! ```
//! use nearmem::alloc::{Interleave, Policy};
//! use nearmem::sim::SimMachine;
//! use nearmem::vmalloc::{VmRequest, Vmalloc};
//!
//! let machine = SimMachine::builder().node(64 << 20, 2).node(64 << 20, 2).build();
//! let map = machine.map();
//! let mm = machine.start(&map, Default::default());
//! let vmalloc = Vmalloc::new(&mm);
//!
//! let turns = Interleave::new(*map.with_memory());
//! let request = VmRequest::new(1 << 20).on(Policy::Interleave(&turns)).zeroed();
//! let area = vmalloc.alloc(&request)?;
//! let pages: Vec<_> = vmalloc.pages_by_node(&area.info()).map(|(_, pages)| pages).collect();
//! assert_eq!(pages, [128, 128]);
//! // SAFETY: the area has 1 MiB, which nobody else uses.
//! assert_eq!(unsafe { area.as_ptr::<u8>().add((1 << 20) - 1).read() }, 0);
//! vmalloc.free(area)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocator;
mod area;
mod areas;
mod build;
mod fill;
mod frame_list;
mod node_pages;
mod request;
mod slab;
mod tables;

pub use allocator::Vmalloc;
pub use area::{AreaInfo, VmArea};
pub use request::{VfreeError, VmRequest, VmallocError};
