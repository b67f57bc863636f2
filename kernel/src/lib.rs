//! The kernel, as a library: the in-kernel suites link it, too.
#![cfg_attr(target_os = "none", no_std)]
