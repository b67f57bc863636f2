//! Large system hash tables: their sizes, and where their pages lie.
//!
//! In: options, how much memory there is, CPUs, nodes. Out: a [`Plan`] of tables, and for each of
//! them a [`Table`] that knows what it is and where its pages are, or a [`HashError`].
//!
//! ```text
//! options      hashdist=, dhash_entries=, ...    place        boot memory, one block or vmalloc
//! size         entries of one table              table, info  the result, and its line of the log
//! boot_tables  which tables there are            system_hash  a table as buckets; chain: in use
//! ```
//!
//! Sizes and placement are Linux's (reference: large-system-hash). Different is that a table for
//! which there is no memory at all is an error instead of the end of the boot.

mod boot_tables;
mod chain;
mod info;
mod options;
mod place;
mod size;
mod system_hash;
mod table;

pub use boot_tables::{HashMachine, Plan, TableSpec};
pub use chain::{ChainHead, ChainTable, Entry};
pub use info::{Placement, Shortfall, TableInfo};
pub use options::HashOptions;
pub use place::{HashError, HashErrorCause, allocate, allocate_early};
pub use size::{MemoryPages, SizeRule, order_of};
pub use system_hash::{Bucket, SystemHash, WrongBucket};
pub use table::Table;
