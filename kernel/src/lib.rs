//! The kernel, as a library: its own binary and the in-kernel suites start the same way.
//!
//! [`start`] reads as the flow: firmware tables -> node map -> boot memory -> zones -> pagesets
//! -> vmalloc -> hash tables -> the CPUs' own areas. [`show`] prints what came out, [`facts`] and [`placement`] say the
//! same to programs. With `bench=` on the command line [`mod@bench`] counts instead.
// For bare metal only: on a host the crate is empty.
#![cfg(target_os = "none")]
#![no_std]

extern crate alloc;

mod access;
pub mod acpi;
pub mod bench;
mod boot_memory;
pub mod cpus;
pub mod facts;
pub mod facts_port;
pub mod findings;
pub mod heap;
mod kernel;
pub mod locality;
pub mod moments;
mod node_map;
pub mod panic;
pub mod placement;
pub mod show;
mod tables;
mod user_map;

pub use kernel::{Kernel, Memory, VirtualMemory, start};
