//! Large system hash tables: their sizes, and where their pages lie.

mod boot_tables;
mod info;
mod options;
mod size;

pub use boot_tables::{HashMachine, Plan, TableSpec};
pub use info::{Placement, Shortfall, TableInfo};
pub use options::HashOptions;
pub use size::{MemoryPages, SizeRule, order_of};
