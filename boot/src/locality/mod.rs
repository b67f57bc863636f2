//! The locality meter: how often a CPU of the guest touches which node's memory, and what lies there.
//!
//! In: one boot whose kernel marks regions of its work. Out: a [`Report`]: for every region and CPU
//! the loads and stores by node and by kind of memory, and the instructions.
//!
//! ```text
//! plugin   builds what QEMU loads: it counts accesses by virtual address       -> counts
//! counts   the file that it leaves behind
//! layout   the kernel's own word on where things lie (COM2, type "locality")
//! report   both joined
//! table    the report for people; names: which line of source an instruction is of
//! boot     one boot with all of it
//! nodes    the same machine with its boot CPU on another node
//! ```
//!
//! docs/locality.md says how to read the figures.

pub mod boot;
pub mod counts;
pub mod layout;
pub mod names;
pub mod nodes;
pub mod plugin;
pub mod report;
pub mod table;

pub use boot::{Metered, boot};
pub use report::Report;
