//! QEMU for x86_64: found on the path or installed.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::apt;

/// The program's name.
pub const PROGRAM: &str = "qemu-system-x86_64";

/// The variable that names another program to use in its place.
pub const VARIABLE: &str = "NEARMEM_QEMU";

/// The first file of this name in the folders of a `PATH`.
fn in_path(path: &std::ffi::OsStr, program: &str) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Finds QEMU, or installs Debian's package `qemu-system-x86`.
///
/// # Errors
/// It is not there and cannot be installed.
pub fn ensure() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let given = PathBuf::from(given);
        if !given.is_file() {
            bail!("{VARIABLE} names {}, which is not there", given.display());
        }
        return Ok(given);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(found) = in_path(&path, PROGRAM) {
        return Ok(found);
    }
    apt::install(&["qemu-system-x86"], "QEMU")?;
    match in_path(&path, PROGRAM) {
        Some(found) => Ok(found),
        None => bail!("apt-get installed QEMU, but there is no {PROGRAM} on the path"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_searched_in_order() {
        assert!(in_path("/nowhere:/bin:/usr/bin".as_ref(), "sh").is_some());
        assert_eq!(in_path("/nowhere".as_ref(), "sh"), None);
    }
}
