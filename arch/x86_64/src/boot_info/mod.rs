//! What a loader says, made into one `BootInfo` that is the same for both doors.
//!
//! In: bytes (PVH) or the `bootloader` crate's own value. Out: a [`Boot`] whose parts all lie in
//! the kernel image, since the loader's own memory is not mapped for long. Nothing is judged: the
//! regions are passed on as they come.
#![cfg_attr(not(target_os = "none"), forbid(unsafe_code))]

mod command_line;
mod convert;
mod hvm;
mod regions;

pub use convert::{Parts, Storage, from_bootloader, from_pvh};
pub use hvm::{REGION_BYTES, START_INFO_BYTES, StartInfo, StartInfoError};

#[cfg(doc)]
use crate::Boot;

/// The most memory regions that are kept.
pub const MAX_REGIONS: usize = 1024;
/// The longest command line that is kept, in bytes.
pub const MAX_COMMAND_LINE: usize = 4096;
