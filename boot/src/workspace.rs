//! Where the workspace is, and commands that run in it without what an outer cargo left behind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's root: the folder above this crate's.
pub fn root() -> &'static Path {
    let boot = Path::new(env!("CARGO_MANIFEST_DIR"));
    boot.parent().unwrap_or(boot)
}

/// Whether a variable that an outer cargo, or the user for the outer build, has set would change
/// or confuse an inner build for bare metal.
///
/// `RUSTFLAGS` in any spelling replaces the flags that the bare-metal target has in
/// `.cargo/config.toml`, and those are needed.
fn misleads(name: &str) -> bool {
    const EXACT: [&str; 8] = [
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_MANIFEST_LINKS",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_CRATE_NAME",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_MAKEFLAGS",
    ];
    EXACT.contains(&name)
        || name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_BIN_")
        || name.starts_with("CARGO_CFG_")
        || matches!(name, "RUSTFLAGS" | "CARGO_ENCODED_RUSTFLAGS" | "OUT_DIR" | "LD_LIBRARY_PATH")
}

/// A command that runs at the workspace's root, free of what an outer cargo has set.
pub fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(misleads) {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that runs us, or the one on the path.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The user's cache folder for what outlives `target/`: `$XDG_CACHE_HOME/nearmem`, or
/// `~/.cache/nearmem`; `None` where neither variable is set.
pub fn cache_dir() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("nearmem"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_the_workspace_manifest() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }

    #[test]
    fn an_inner_build_keeps_the_toolchain_and_loses_the_flags() {
        assert!(misleads("RUSTFLAGS") && misleads("CARGO_PKG_NAME"));
        assert!(!misleads("RUSTUP_TOOLCHAIN") && !misleads("CARGO_TARGET_DIR"));
        assert!(!misleads("CARGO_HOME") && !misleads("PATH") && !misleads("RUSTC"));
    }
}
