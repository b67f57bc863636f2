//! Set-up: what this machine needs beside rustup's cargo, found or installed.
//!
//! In: the environment. Out: [`Tools`]. Silent when all is there; otherwise one line on standard
//! error for each thing missing and what is done about it.

pub mod apt;
pub mod debian;
pub mod progress;
pub mod qemu;
pub mod target;

use std::path::PathBuf;

use anyhow::Result;

pub use target::Toolchain;

/// What booting a kernel takes.
#[derive(Debug, Clone)]
pub struct Tools {
    /// What compiles for bare metal.
    pub toolchain: Toolchain,
    /// `qemu-system-x86_64`, or what the variable `NEARMEM_QEMU` names instead.
    pub qemu: PathBuf,
}

/// Finds or installs the compiler's bare-metal target and QEMU.
///
/// # Errors
/// Something is missing and cannot be installed; the text has the command to type.
pub fn ensure() -> Result<Tools> {
    Ok(Tools { toolchain: target::ensure()?, qemu: qemu::ensure()? })
}
