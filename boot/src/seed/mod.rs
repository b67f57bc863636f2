//! The seeds, reproduced: one kernel, two boots, and what arithmetic says beforehand.
//!
//! In: a machine. Out: what the kernel reports of its nodes and hash tables ([`placement`]), the
//! same by arithmetic from the tables' sizes alone ([`expect`]), and both side by side
//! ([`hashdist`], [`report`]).

pub mod expect;
pub mod hashdist;
pub mod page_tables;
pub mod placement;
pub mod report;
pub mod spread;
