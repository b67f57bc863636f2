//! The launcher, as a library: `cargo run` is its command line ([`cli`]), and the test runner
//! boots machines through the same parts.
//!
//! What flows: a machine ([`machine`]: options, a machine file or a case) and a kernel ELF
//! ([`build`]) go into QEMU ([`qemu`]); console lines and facts (JSON values) come out, and how
//! the boot ended. [`setup`] sees to it beforehand that the compiler's target and QEMU are there.
//! [`map`] works on firmware tables alone, without QEMU.
//!
//! ```no_run
//! use nearmem_boot::{build, machine, qemu, setup};
//!
//! let tools = setup::ensure()?;
//! let elf = build::kernel(&tools.toolchain)?;
//! let machine = machine::file::load("tests/machines/two-nodes.toml".as_ref())?.machine;
//! let request = qemu::BootRequest::new(&tools.qemu, &elf, &machine);
//! let outcome = qemu::boot(&request, |line| println!("{line}"), |fact| drop(fact))?;
//! assert_eq!(outcome.exit, qemu::Exit::Success);
//! # anyhow::Ok(())
//! ```

pub mod acpi;
pub mod bench;
pub mod build;
pub mod cli;
pub mod fault;
pub mod locality;
pub mod machine;
pub mod map;
pub mod qemu;
pub mod scratch;
pub mod seed;
pub mod setup;
pub mod workspace;
