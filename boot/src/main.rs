//! `cargo run`: sets up, builds the kernel and boots it in QEMU. `cargo run -- --help` says more.

use std::process::ExitCode;

fn main() -> ExitCode {
    nearmem_boot::cli::main()
}
