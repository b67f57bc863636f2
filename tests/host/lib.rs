//! Machine files, and the runner that boots the in-kernel suites on them.
//!
//! In flow the machine files and the suites' ELF, out flows one test for every in-kernel test on
//! every machine. One boot runs all tests of a machine ([`batch`]); machines boot side by side
//! ([`machine_run`]); names come from the ELF ([`elf`]), so that nothing boots for a test that is not
//! asked for.

pub mod batch;
pub mod elf;
pub mod events;
pub mod expectations;
pub mod guest;
pub mod launcher;
pub mod machine_file;
pub mod machine_run;
pub mod oracle_case;
