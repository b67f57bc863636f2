//! The compiler and its bare-metal target: rustup's, or the fallback from Debian's packages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::debian;
use super::progress::{last_words, run, say};
use crate::workspace;

/// The bare-metal target that the kernel is built for.
pub const TARGET: &str = "x86_64-unknown-none";

/// The variable that chooses the toolchain: `debian` forces the fallback.
pub const VARIABLE: &str = "NEARMEM_TOOLCHAIN";

/// What an inner cargo has to use to compile for [`TARGET`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler, where it is not the one that cargo takes by itself.
    pub rustc: Option<PathBuf>,
    /// The linker for [`TARGET`], where it is not the compiler's own.
    pub linker: Option<PathBuf>,
}

impl Toolchain {
    /// Has a cargo command use this toolchain.
    pub fn apply(&self, command: &mut Command) {
        if let Some(rustc) = &self.rustc {
            command.env("RUSTC", rustc);
        }
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_X86_64_UNKNOWN_NONE_LINKER", linker);
        }
    }
}

/// Whether a folder holds the core library for the target.
pub(super) fn has_core(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
    })
}

/// Whether the compiler that cargo takes by itself can build for [`TARGET`].
fn is_there() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let mut command = workspace::command(rustc);
    command.args(["--print", "target-libdir", "--target", TARGET]);
    let Ok(output) = command.output() else { return false };
    output.status.success() && has_core(Path::new(String::from_utf8_lossy(&output.stdout).trim()))
}

/// `rustup target add`, which also works where rustup installs nothing by itself.
fn add_by_rustup() -> Result<()> {
    let mut command = workspace::command("rustup");
    command.args(["target", "add", TARGET]);
    let output = run(&mut command, "rustup target add").context("cannot start rustup")?;
    if !output.status.success() {
        bail!("{}", last_words(&output));
    }
    match is_there() {
        true => Ok(()),
        false => bail!("rustup added the target to another toolchain than cargo uses"),
    }
}

/// Finds or adds the target.
///
/// # Errors
/// Neither rustup nor Debian's packages give a compiler for it.
pub fn ensure() -> Result<Toolchain> {
    match std::env::var(VARIABLE).as_deref() {
        Ok("debian") => return debian::ensure(),
        Ok("") | Ok("rustup") | Err(_) => {}
        Ok(other) => bail!("{VARIABLE}={other}: expected `rustup` or `debian`"),
    }
    if is_there() {
        return Ok(Toolchain::default());
    }
    say(&format!("the compiler's target {TARGET} is missing: rustup target add"));
    match add_by_rustup() {
        Ok(()) => Ok(Toolchain::default()),
        Err(why) => {
            say(&format!("rustup could not add it ({why:#}): takes Debian's compiler instead"));
            debian::ensure()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_toolchain_names_compiler_and_linker() {
        let toolchain =
            Toolchain { rustc: Some("/x/rustc".into()), linker: Some("/x/ld.lld".into()) };
        let mut command = Command::new("cargo");
        toolchain.apply(&mut command);
        let set: Vec<_> = command.get_envs().filter_map(|(k, v)| k.to_str().zip(v)).collect();
        assert!(set.contains(&("RUSTC", "/x/rustc".as_ref())));
        assert!(set.contains(&("CARGO_TARGET_X86_64_UNKNOWN_NONE_LINKER", "/x/ld.lld".as_ref())));
    }

    #[test]
    fn core_is_looked_for_by_its_file() {
        let scratch = Scratch::new().unwrap();
        assert!(!has_core(scratch.path()) && !has_core("/nowhere".as_ref()));
        std::fs::write(scratch.path().join("libcore-12ab.rlib"), "").unwrap();
        assert!(has_core(scratch.path()));
    }
}
