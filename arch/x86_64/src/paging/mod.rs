//! Page tables: what the kernel sees of memory, and what it may do there.
//!
//! In: ranges of RAM and frames for tables. Out: [`build`]'s new tables, which replace the boot
//! page tables, and [`KernelPageTables`], which maps vmalloc's pages in them afterwards.
//!
//! | addresses | what | may |
//! |---|---|---|
//! | `layout::DIRECT_MAP` | all RAM at one offset, largest leaves that fit | read, write |
//! | the same, where the image's code and constants lie | | read |
//! | `layout::VMALLOC` | vmalloc's window | read, write |
//! | `layout::CPU_AREAS` | stacks and blocks of the CPUs, guard pages left out | read, write |
//! | the image's code | 4 KiB leaves | read, execute |
//! | the image's constants | 4 KiB leaves | read |
//! | the image's data | 4 KiB leaves, guard pages left out | read, write |
//! | `layout::MMIO` | device registers, uncached | read, write |
//!
//! Nothing else is mapped; no frame can be written through one mapping and executed through
//! another.
//!
//! All but a few lines works on any memory behind a `PhysMap`, so that host tests run it.
#![cfg_attr(not(target_os = "none"), allow(dead_code))] // on a host only the tests use it

mod builder;
mod direct_map;
mod entry;
mod plan;
mod runs;
mod table;
mod tables;

#[cfg(target_os = "none")]
mod build;
#[cfg(target_os = "none")]
mod image;
#[cfg(target_os = "none")]
mod tlb;

#[cfg(test)]
mod test_memory;

pub use builder::{BuildError, Leaves};
pub use direct_map::{DirectMap, direct_map};
pub use entry::{Entry, Level};
pub use plan::{Access, Summary};
pub use table::Leaf;
pub use tables::KernelPageTables;

#[cfg(target_os = "none")]
pub use build::{NewTables, build};
#[cfg(target_os = "none")]
pub use image::{
    memory_of, places as image_places, ranges as image_ranges, sections as image_sections,
};
#[cfg(target_os = "none")]
pub(crate) use tlb::{flush, flush_all};
