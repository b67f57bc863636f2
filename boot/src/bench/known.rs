//! All names of figures, and what Linux took for the same.

/// One name.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The name.
    pub name: &'static str,
    /// In words.
    pub what: &'static str,
    /// Linux's figure in the same unit, counted in the same way (docs/measurements.md).
    pub linux: Option<f64>,
    /// Linux's figure holds for the default machine only.
    pub default_machine: bool,
}

const fn known(name: &'static str, what: &'static str, linux: f64) -> Known {
    Known { name, what, linux: Some(linux), default_machine: false }
}

const fn ours(name: &'static str, what: &'static str) -> Known {
    Known { name, what, linux: None, default_machine: false }
}

/// Whose figures the others are.
pub const LINUX: &str = "the better of Debian's Linux 6.1.192 and 6.12.115 in the same QEMU";

/// All of them, in the order of the table.
pub const ALL: &[Known] = &[
    known("order0_pair", "a frame allocated and freed, token held", 600.0),
    ours("order0_pair_guarded", "the same, taking the token"),
    known("order0_pair_remote", "the same from another node's zone, token held", 604.0),
    ours("order0_pair_flat", "the same on a machine with one node"),
    known("bulk_alloc", "a frame of 65536 allocated", 473.0),
    known("bulk_free", "a frame of 65536 freed, last first", 338.0),
    known("random_free", "a frame of 65536 freed in random order", 327.0),
    ours("cold_alloc", "a frame from memory never touched"),
    known("order4_pair", "64 KiB allocated and freed", 1058.0),
    known("order9_pair", "2 MiB allocated and freed", 5386.0),
    known("order10_pair", "4 MiB allocated and freed", 10415.0),
    ours("worst_order0", "the worst single operation"),
    ours("worst_order0_cold", "the worst allocation from memory never touched"),
    Known {
        default_machine: true,
        ..known("memory_startup", "firmware tables to pagesets", 558_537_241.0)
    },
    ours("memory_startup_output", "log output in that, not counted there"),
    ours("boot_to_allocator", "entry to a frame of every node"),
    known("vmalloc_32m", "a page of a vmalloc of 32 MiB", 177.0),
    known("vfree_32m", "a page of its vfree", 351.0),
    known("vmalloc_huge_32m", "a page of a vmalloc of 32 MiB in 2 MiB pages", 16.0),
    known("vfree_huge_32m", "a page of its vfree", 607.0),
    known("metadata", "bytes about a frame, all zones together", 64.0),
    ours("metadata_fixed", "bytes of a zone, whatever its size"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_is_there_twice() {
        let names: BTreeSet<_> = ALL.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
