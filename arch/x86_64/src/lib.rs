//! The x86_64 half of the kernel: how it is entered, what it tells the CPU, and the ports.
//!
//! In: a start by a PVH loader (`-kernel` of QEMU) or by the `bootloader` crate. Out: one call of
//! the function that the binary names with [`entry_point!`], with a [`Boot`] that looks the same
//! whichever door it was. Exceptions are caught from before that call on. Nothing here decides
//! anything about memory; `nearmem` asks through its platform traits.
//!
//! On a host only what is pure builds: conversion of boot data and the logic of page tables.
#![cfg_attr(target_os = "none", no_std)]

mod boot;
pub mod boot_info;
#[cfg_attr(not(target_os = "none"), allow(dead_code))]
pub mod cpu;
pub mod cpuid;
pub mod layout;
pub mod marker;
pub mod paging;
#[cfg_attr(not(target_os = "none"), allow(dead_code))]
mod take_once;

#[cfg(target_os = "none")]
pub mod apic;
#[cfg(target_os = "none")]
pub mod backtrace;
#[cfg(target_os = "none")]
pub mod clock;
#[cfg(target_os = "none")]
mod entry;
#[cfg(target_os = "none")]
pub mod exceptions;
#[cfg(target_os = "none")]
pub mod exit;
#[cfg(target_os = "none")]
pub mod interrupts;
#[cfg(target_os = "none")]
pub mod pic;
#[cfg(target_os = "none")]
mod pit;
#[cfg(target_os = "none")]
pub mod platform;
#[cfg(target_os = "none")]
pub mod remote;
#[cfg(target_os = "none")]
pub mod serial;
#[cfg(target_os = "none")]
pub mod smp;
#[cfg(target_os = "none")]
pub mod stop;

pub use boot::{Boot, Door};
#[cfg(target_os = "none")]
pub use platform::X86Platform;
