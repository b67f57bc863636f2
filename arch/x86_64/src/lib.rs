//! The x86_64 half of the kernel.
#![cfg_attr(target_os = "none", no_std)]
