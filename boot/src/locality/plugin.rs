//! Builds the plugin, where it is used: in comes this host's cargo, out the shared object's path.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::build;
use crate::machine::arguments::escaped;

/// Builds the plugin (package `nearmem-locality-plugin`) and returns its shared object.
///
/// # Errors
/// It does not compile, or cargo cannot be started.
pub fn build() -> Result<PathBuf> {
    build::shared_object("builds the locality meter's plugin", "nearmem-locality-plugin")
}

/// The value of QEMU's `-plugin` that loads it and has it write its counts to a file.
pub fn argument(plugin: &Path, counts: &Path) -> String {
    format!("file={},out={}", escaped(plugin), escaped(counts))
}

/// Whether QEMU refused a machine because of the plugin, and not of the machine: by the words of its
/// line. A QEMU without plugins does not know the option; one of another plugin interface says so.
pub fn is_to_blame(line: &str) -> bool {
    line.contains("plugin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_doubled() {
        let argument = argument("/a,b/x.so".as_ref(), "/t/c,d".as_ref());
        assert_eq!(argument, "file=/a,,b/x.so,out=/t/c,,d");
    }

    #[test]
    fn refusals_are_told_apart() {
        assert!(is_to_blame("-plugin: invalid option"));
        assert!(is_to_blame("Could not load plugin /x.so: plugin requires API version 1"));
        assert!(!is_to_blame("total memory for NUMA nodes (0x1) should equal RAM size (0x2)"));
    }
}
