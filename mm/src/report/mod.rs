//! Reports: figures in, text in Linux's formats out (reference: formats).
//!
//! Every formatter writes to a [`core::fmt::Write`] and takes plain figures ([`figures`]), a node
//! map, or both; it allocates nothing, and changes nothing that it reads. [`collect`] takes the
//! figures from a [`MemorySubsystem`](crate::alloc::MemorySubsystem); functions named `write_all`
//! do so themselves.
//!
//! | module | what it writes |
//! |---|---|
//! | [`numactl`] | `numactl --hardware` |
//! | [`meminfo`] | a node's meminfo, in the rows of 2007 and in today's |
//! | [`ranges`] | the boot log's zone ranges, node ranges and node set-up |
//! | [`zonelists`] | the boot log's fallback orders and policy zone |
//! | [`buddyinfo`], [`zoneinfo`], [`numastat`] | the files of these names |
//! | [`node_table`], [`hash_tables`] | two tables of our own, for the end of a boot |
//! | [`access`] | what the HMAT says: latencies, bandwidths, tiers, weights, caches |
#![forbid(unsafe_code)]

pub mod access;
pub mod buddyinfo;
pub mod collect;
pub mod figures;
pub mod hash_tables;
pub mod meminfo;
pub mod node_table;
pub mod numactl;
pub mod numastat;
pub mod ranges;
pub mod zoneinfo;
pub mod zonelists;

pub use figures::{NodeMemory, PagesetFigures, ZoneFigures};
