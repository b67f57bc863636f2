//! NUMA memory management for kernels.
//!
//! What flows in are the bytes of the firmware's affinity tables, the memory map and a few
//! options; what comes out is memory from the right node, and a report of where it lies:
//!
//! ```text
//! firmware -> topology -> memblock -> zone -> pageset -> alloc -> vmalloc, hash -> report
//! bytes       NodeMap     MemBlock    Zones   Pagesets   frames   mapped ranges    text
//! ```
//!
//! Who may see what, and why:
//!
//! * `firmware`, `topology`, `report` and the arithmetic of `alloc` and `hash` forbid `unsafe`:
//!   they work on bytes and numbers that a stranger wrote.
//! * `sync` is the only module that names atomics.
//! * `platform` is all that the crate asks of a kernel. There are no statics: a
//!   [`MemorySubsystem`](alloc::MemorySubsystem) is a value.
//! * `sim` (feature `sim`) is a platform in a host process, so that all of this runs in tests.
#![cfg_attr(not(any(test, feature = "sim", loom)), no_std)]

#[cfg(any(test, feature = "sim"))]
extern crate std;

pub mod alloc;
pub mod finding;
pub mod firmware;
pub mod hash;
pub mod ids;
pub mod memblock;
pub mod options;
pub mod pageset;
pub mod platform;
pub mod report;
#[cfg(all(any(test, feature = "sim"), not(loom)))]
pub mod sim;
pub mod sync;
pub mod topology;
pub mod units;
pub mod vmalloc;
pub mod zone;

pub use ids::{ApicId, CpuId, NodeId, NodeSet, ProximityDomain};
pub use units::{Order, PAGE_SHIFT, PAGE_SIZE, Pfn, PfnRange, PhysAddr, PhysRange, VirtAddr};

/// The example on the project's first page, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
