//! Requests to frames: zonelists, watermarks, policies, counters, and the page allocator.
//!
//! In: boot memory and the node map, once ([`MemorySubsystem::hand_over`]); requests and freed
//! blocks after that. Out: [`FrameBlock`]s, each owned by whoever asked, or an [`AllocError`]
//! that says what was missing.
//!
//! ```text
//! request    what is asked for            policy     on which nodes (plan: for one request)
//! zonelist   in which order               watermark  down to where
//! ways       from a request to a pageset by one load
//! slot       one CPU's counters of and access to one zone; a CPU has one for each zone
//! allocate   try_alloc, alloc             bulk       many frames of one node
//! block      the result                   free       the way back
//! why        who refused, and what it cost (trail: one refusal)
//! drain      parked frames back to zones, by request_word on other CPUs
//! hand_over  boot memory to zones         pagesets   real pagesets for boot pagesets
//! ```
//!
//! A CPU must never wait for another with a token held: [`MemorySubsystem::try_alloc`] and
//! [`MemorySubsystem::try_free`] take a token and never wait;
//! [`MemorySubsystem::alloc`] takes it for the fast part only. CPUs that are online look at what
//! others ask of them, in the idle loop ([`MemorySubsystem::serve_requests`]) and whenever they
//! allocate or wait.
//!
//! All of it in twenty lines, here on a simulated machine:
//!
//! ```
//! use nearmem::alloc::{MemorySubsystem, Options, Policy, Request};
//! use nearmem::sim::SimMachine;
//! use nearmem::{NodeId, Order};
//!
//! // Two nodes of 64 MiB with two CPUs each. A kernel has a platform of its own, and its node
//! // map and boot memory come from the firmware's tables.
//! let machine = SimMachine::builder().node(64 << 20, 2).node(64 << 20, 2).build();
//! let map = machine.map();
//! let boot_memory = machine.boot_memory(&map);
//! // SAFETY: the machine's RAM is nobody else's and lives as long as the map.
//! let mm = unsafe {
//!     MemorySubsystem::hand_over(boot_memory, &map, machine.platform(), Options::default())?
//! };
//! mm.set_up_pagesets()?;
//!
//! // A page near this CPU, and 2 MiB of zeros on node 1.
//! let page = mm.alloc(&Request::new(Order::ZERO))?;
//! let far = Policy::Preferred(NodeId(1));
//! let table = mm.alloc(&Request::new(Order::HUGE).on(far).zeroed())?;
//! assert_eq!((page.zone().node, table.zone().node), (NodeId(0), NodeId(1)));
//! let bytes: *mut u8 = table.as_ptr(mm.platform());
//! // SAFETY: the block is ours, and it is zeroed.
//! assert_eq!(unsafe { bytes.read() }, 0);
//!
//! mm.free(page)?;
//! mm.free(table)?;
//! assert_eq!(mm.node_counters(NodeId(1)).hit, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
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
mod places;
mod plan;
mod policy;
mod request;
pub mod request_word;
mod slot;
mod subsystem;
mod trail;
mod tune;
pub mod watermark;
mod ways;
mod weighted;
mod why;
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
pub use trail::Refusal;
pub use weighted::WeightedInterleave;
pub use why::{REFUSALS, Why};

/// Whether the pagesets are searched for what is freed: with feature `checked`, and in builds with
/// debug assertions, which is how the tests run. Not by a feature of the tests: cargo would build
/// the benchmarks with it, too.
const CHECKED: bool = cfg!(any(feature = "checked", debug_assertions));
