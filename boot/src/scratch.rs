//! A folder for one boot's sockets and tables, gone when the value is dropped.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

/// A fresh folder under the system's folder for temporary files, removed on drop.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    keep: bool,
}

impl Scratch {
    /// Makes a folder that no other process or thread uses.
    ///
    /// # Errors
    /// The folder for temporary files is full or not writable.
    pub fn new() -> Result<Scratch> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = folder().join(format!("nearmem-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Scratch { path, keep: false }),
                // Left by a process of the same number that was killed.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e).context(format!("cannot make {}", path.display())),
            }
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the folder where it is when the value is dropped, for a command typed later.
    pub fn keep(&mut self) {
        self.keep = true;
    }
}

/// The folder for temporary files; `/tmp` when its path is too long for a socket's, which has room
/// for 107 bytes with our own names in it.
fn folder() -> PathBuf {
    const LONGEST: usize = 70;
    let told = std::env::temp_dir();
    if told.as_os_str().len() <= LONGEST { told } else { PathBuf::from("/tmp") }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            // Nothing to do about a failure: the system clears its temporary files.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_folders_differ_and_go() {
        let (a, b) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        assert_ne!(a.path(), b.path());
        let path = a.path().to_owned();
        assert!(path.is_dir());
        drop(a);
        assert!(!path.exists() && b.path().is_dir());
    }
}
