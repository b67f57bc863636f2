//! The harness of the in-kernel tests: registration, selection, and the reports on both serial
//! ports. In flows a booted kernel and the `test=` option; out flow one JSON line per event on
//! COM2, a line for people on COM1, and the exit code.
//!
//! A test is a function that takes the kernel and panics when something is wrong. A panic ends the
//! boot, and the runner on the host boots again for the tests behind it.
//!
//! ```ignore
//! nearmem_suites::kernel_tests! { node_0_is_online }
//!
//! fn node_0_is_online(kernel: &nearmem_kernel::Kernel) {
//!     assert!(kernel.map.online().contains(nearmem::NodeId(0)));
//! }
//! ```
//!
//! In the module `nodes` its name is `nodes::node_0_is_online`, and `cargo test` has it once for
//! every machine file that runs the suite `nodes`.
#![no_std]

mod json;
mod registry;
mod run;

pub use registry::Test;
pub use run::{report_failure, run};
