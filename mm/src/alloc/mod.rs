//! Requests to frames: zonelists, watermarks, policies, counters, and the page allocator.
//!
//! In: boot memory and the node map, once ([`MemorySubsystem::hand_over`]); requests and freed
//! blocks after that. Out: [`FrameBlock`]s, each owned by whoever asked, or an [`AllocError`]
//! that says what was missing.
//!
//! ```text
//! request    what is asked for            policy     on which nodes
//! zonelist   in which order               watermark  down to where
//! slot       one CPU's pageset, counters and way to one zone; a CPU has one for each zone
//! allocate   try_alloc, alloc             bulk       many frames of one node
//! block      the result                   free       the way back
//! drain      parked frames back to zones, by request_word on other CPUs
//! hand_over  boot memory to zones         pagesets   real pagesets for boot pagesets
//! ```

mod allocate;
mod block;
mod boot_room;
mod bulk;
mod counters;
mod cpu_block;
mod drain;
mod error;
mod free;
mod hand_over;
mod local_cpu;
mod nodes;
mod options;
mod pagesets;
mod policy;
mod request;
pub mod request_word;
mod slot;
mod subsystem;
mod tune;
pub mod watermark;
pub mod zonelist;

pub use block::{FrameBlock, Frames};
pub use counters::NumaCounters;
pub use error::{AllocError, HandOverError};
pub use hand_over::HandOverReport;
pub use local_cpu::LocalCpu;
pub use options::{Options, PagesetPlacement};
pub use policy::{INTERLEAVE_MIN_FRAMES, Interleave, Policy, interleave_nodes};
pub use request::Request;
pub use subsystem::MemorySubsystem;
