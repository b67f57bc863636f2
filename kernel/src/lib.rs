//! The kernel, as a library: its own binary and the in-kernel suites start the same way.
//!
//! [`start`] reads as the flow: firmware tables -> node map -> boot memory -> zones -> pagesets
//! -> vmalloc -> hash tables. [`show`] prints what came out, [`facts`] and [`placement`] say the
//! same to programs.
#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

#[cfg(target_os = "none")]
pub mod acpi;
#[cfg(target_os = "none")]
mod boot_memory;
#[cfg(target_os = "none")]
pub mod facts;
#[cfg(target_os = "none")]
pub mod facts_port;
#[cfg(target_os = "none")]
pub mod findings;
#[cfg(target_os = "none")]
pub mod heap;
#[cfg(target_os = "none")]
mod kernel;
#[cfg(target_os = "none")]
mod node_map;
#[cfg(target_os = "none")]
pub mod panic;
#[cfg(target_os = "none")]
pub mod placement;
#[cfg(target_os = "none")]
pub mod show;
#[cfg(target_os = "none")]
mod tables;
#[cfg(target_os = "none")]
mod user_map;

#[cfg(target_os = "none")]
pub use kernel::{Kernel, Memory, VirtualMemory, start};
