//! Builds the bare-metal ELFs with an inner cargo: in comes a toolchain, out the ELF's path.

mod messages;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::setup::Toolchain;
use crate::setup::progress;
use crate::setup::target::TARGET;
use crate::workspace;

/// Builds the kernel (package `nearmem-kernel`, profile `kernel`) and returns its ELF.
///
/// Says nothing unless it takes long or fails; then the compiler's messages go to standard error.
///
/// # Errors
/// The kernel does not compile, or cargo cannot be started.
pub fn kernel(toolchain: &Toolchain) -> Result<PathBuf> {
    elf(
        toolchain,
        "builds the kernel",
        &["build", "-p", "nearmem-kernel", "--bin", "nearmem-kernel"],
    )
}

/// Builds the in-kernel test suites (package `nearmem-suites`) and returns their ELF.
///
/// # Errors
/// As [`kernel`].
pub fn suites(toolchain: &Toolchain) -> Result<PathBuf> {
    elf(
        toolchain,
        "builds the in-kernel suites",
        &["test", "--no-run", "-p", "nearmem-suites", "--test", "suites"],
    )
}

fn elf(toolchain: &Toolchain, text: &str, arguments: &[&str]) -> Result<PathBuf> {
    let mut command = workspace::cargo();
    command.args(arguments).args(["--quiet", "--target", TARGET, "--profile", "kernel"]);
    command.arg("--message-format=json-render-diagnostics");
    toolchain.apply(&mut command);
    let output = progress::run(&mut command, text).context("cannot start cargo")?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("{text}: cargo failed ({})", output.status);
    }
    match messages::executable(&String::from_utf8_lossy(&output.stdout)) {
        Some(path) => Ok(path),
        None => bail!("{text}: cargo named no executable"),
    }
}
