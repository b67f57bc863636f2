//! Builds with an inner cargo: in comes a toolchain, out the path of a bare-metal ELF; and shared
//! objects for this host.

mod messages;

use std::path::PathBuf;
use std::process::Command;

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
    toolchain.apply(&mut command);
    match messages::executable(&output(command, text)?) {
        Some(path) => Ok(path),
        None => bail!("{text}: cargo named no executable"),
    }
}

/// Builds a package of the workspace as a shared object for this host and returns it; `text` says
/// what is done ("builds the plugin").
///
/// # Errors
/// It does not compile, or cargo cannot be started.
pub fn shared_object(text: &str, package: &str) -> Result<PathBuf> {
    let mut command = workspace::cargo();
    command.args(["build", "--quiet", "--release", "-p", package]);
    match messages::shared_object(&output(command, text)?) {
        Some(path) => Ok(path),
        None => bail!("{text}: cargo named no shared object"),
    }
}

/// What cargo writes in JSON about a build; its complaints go to standard error.
fn output(mut command: Command, text: &str) -> Result<String> {
    command.arg("--message-format=json-render-diagnostics");
    let output = progress::run(&mut command, text).context("cannot start cargo")?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("{text}: cargo failed ({})", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
