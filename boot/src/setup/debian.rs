//! The fallback where rustup's server cannot be reached: Debian's compiler and library source.
//!
//! Debian has no core library for bare metal, so `core` and `alloc` are built once from its
//! source and kept in a sysroot of their own, in the user's cache folder, keyed by the compiler's
//! version. A two-line script stands in for `rustc` and adds the sysroot. From then on rustup's
//! cargo builds with it, with the same manifests and no unstable option.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::apt;
use super::progress::{last_words, run, say};
use super::target::{TARGET, Toolchain, has_core};
use crate::workspace;

/// Compiler, cargo and library source of equal versions, and a linker.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];

const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const LINKER: &str = "/usr/bin/ld.lld";
/// Debian's host library, which build scripts are compiled against.
const HOST_LIBRARY: &str = "/usr/lib/rustlib/x86_64-unknown-linux-gnu";

/// Finds or builds the fallback.
///
/// # Errors
/// The packages cannot be installed, the library does not build, or the cache is not writable.
pub fn ensure() -> Result<Toolchain> {
    if [RUSTC, CARGO, LINKER].iter().any(|file| !Path::new(file).is_file()) || source().is_none() {
        apt::install(&PACKAGES, "Debian's Rust compiler")?;
    }
    let output = workspace::command(RUSTC).arg("-vV").output().context(RUSTC)?;
    let version = String::from_utf8_lossy(&output.stdout);
    let Some(cache) = workspace::cache_dir() else {
        bail!("no folder for the fallback compiler: neither XDG_CACHE_HOME nor HOME is set");
    };
    let sysroot = cache.join(key(&version));
    if !has_core(&library(&sysroot)) {
        build(&cache, &sysroot).context("Debian's compiler as a fallback")?;
    }
    Ok(Toolchain { rustc: Some(sysroot.join("bin/rustc")), linker: Some(LINKER.into()) })
}

/// Debian's library source, where the compiler looks for it.
fn source() -> Option<PathBuf> {
    let output = workspace::command(RUSTC).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let source = Path::new(&sysroot).join("lib/rustlib/src/rust/library/core");
    source.is_dir().then_some(source)
}

/// The folder's name for a compiler that calls itself so (`rustc -vV`).
fn key(version: &str) -> String {
    let release = version.lines().find_map(|line| line.strip_prefix("release: "));
    // FNV-1a: the same in every build of the launcher, unlike the standard library's hasher.
    let hash = version.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("debian-{}-{hash:016x}", release.unwrap_or("unknown"))
}

/// Where a sysroot has the target's libraries.
fn library(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(TARGET).join("lib")
}

/// Builds the sysroot beside its place and moves it there when it is whole.
fn build(cache: &Path, sysroot: &Path) -> Result<()> {
    say(&format!("builds core and alloc for {TARGET} with Debian's compiler, once"));
    let work = cache.join(format!("building-{}", std::process::id()));
    let result = build_in(&work, sysroot);
    // Half a build is of no use to anybody, and a whole one has been moved away.
    let _ = fs::remove_dir_all(&work);
    result
}

fn build_in(work: &Path, sysroot: &Path) -> Result<()> {
    let package = work.join("package");
    fs::create_dir_all(package.join("src")).context("cannot write to the cache folder")?;
    fs::write(
        package.join("Cargo.toml"),
        "[package]\nname = \"sysroot\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n",
    )?;
    fs::write(package.join("src/lib.rs"), "#![no_std]\nextern crate alloc;\n")?;

    let mut command = workspace::command(CARGO);
    command.args(["build", "--release", "-Zbuild-std=core,alloc", "--target", TARGET]);
    command.current_dir(&package).env("RUSTC", RUSTC).env("RUSTC_BOOTSTRAP", "1");
    command.env_remove("RUSTUP_TOOLCHAIN").env("CARGO_TARGET_DIR", work.join("target"));
    let output = run(&mut command, "builds core and alloc").context(CARGO)?;
    if !output.status.success() {
        bail!("core and alloc do not build: {}", last_words(&output));
    }

    let root = work.join("sysroot");
    fs::create_dir_all(library(&root))?;
    fs::create_dir_all(root.join("bin"))?;
    for entry in fs::read_dir(work.join("target").join(TARGET).join("release/deps"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let wanted = ["libcore-", "liballoc-", "libcompiler_builtins-"];
        if wanted.iter().any(|start| name.starts_with(start)) && name.ends_with(".rlib") {
            fs::copy(entry.path(), library(&root).join(&name))?;
        }
    }
    symlink(HOST_LIBRARY, root.join("lib/rustlib/x86_64-unknown-linux-gnu"))?;
    let script = root.join("bin/rustc");
    fs::write(&script, stand_in(sysroot))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;

    match fs::rename(&root, sysroot) {
        // Another process was faster; its sysroot is as good.
        Err(_) if has_core(&library(sysroot)) => Ok(()),
        result => result.with_context(|| format!("cannot make {}", sysroot.display())),
    }
}

/// The script that stands in for the compiler.
fn stand_in(sysroot: &Path) -> String {
    let quoted = sysroot.display().to_string().replace('\'', r"'\''");
    format!("#!/bin/sh\nexec {RUSTC} --sysroot '{quoted}' \"$@\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_follows_the_compiler() {
        let one = key("rustc 1.96.0\nrelease: 1.96.0\n");
        assert!(one.starts_with("debian-1.96.0-"), "{one}");
        assert_ne!(one, key("rustc 1.96.0 (patched)\nrelease: 1.96.0\n"));
        assert!(key("").starts_with("debian-unknown-"));
    }

    #[test]
    fn the_stand_in_survives_a_quote() {
        let script = stand_in("/opt/o'neil/x".as_ref());
        assert!(script.contains(r"--sysroot '/opt/o'\''neil/x'"), "{script}");
    }
}
