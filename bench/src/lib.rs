//! Benchmarks of the allocator on the host, with its peers in the same run.
//!
//! In: the allocator on a simulated machine, and allocators of other crates with as many frames
//! ([`peers`]). Every one of them does the same work ([`workloads`]: those of LLFree's paper), and
//! what came out is shown as ratios to a mutexed array stack ([`results`], [`report`]), since a
//! time by itself is a property of the host. `cargo bench` runs it all.
//!
//! A thread stands for a CPU and holds its token for the whole of a timed part: on the host taking
//! one costs a simulation's price.

pub mod options;
pub mod peer;
pub mod peers;
pub mod random;
pub mod report;
pub mod results;
pub mod threads;
pub mod workloads;

pub use peer::Peer;
pub use results::{Key, Results};

/// Frames that every allocator has: 4 GiB.
pub const FRAMES: u64 = 1 << 20;
