//! What there is to know of a table, and the line that the log gets.
#![forbid(unsafe_code)]

use core::fmt;

use crate::units::VirtAddr;

/// How a table's pages are mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// In one piece, through the direct map.
    Linear,
    /// Scattered pages of 4 KiB.
    Vmalloc,
    /// Scattered pages of 2 MiB.
    VmallocHuge,
}

impl Placement {
    /// As the log names it: `linear`, `vmalloc` or `vmalloc hugepage`.
    pub const fn name(self) -> &'static str {
        match self {
            Placement::Linear => "linear",
            Placement::Vmalloc => "vmalloc",
            Placement::VmallocHuge => "vmalloc hugepage",
        }
    }
}

/// A table, in figures. Displays as the line of Linux's log:
/// `Dentry cache hash table entries: 524288 (order: 10, 4194304 bytes, vmalloc)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableInfo {
    /// Its name.
    pub name: &'static str,
    /// Buckets: a power of two.
    pub entries: u64,
    /// Buckets that it should have had: more than `entries` where memory was short.
    pub wanted: u64,
    /// Linux's order: the smallest whose block holds the table; may be above 10.
    pub order: u32,
    /// Its size.
    pub bytes: u64,
    /// How its pages are mapped.
    pub placement: Placement,
    /// Whether it comes from boot memory.
    pub early: bool,
    /// Where it is.
    pub address: VirtAddr,
}

impl TableInfo {
    /// What to say of a table that is smaller than it should be; `None` of any other.
    pub fn shortfall(&self) -> Option<Shortfall> {
        let TableInfo { name, entries, wanted, .. } = *self;
        (entries < wanted).then_some(Shortfall { name, entries, wanted })
    }
}

impl fmt::Display for TableInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableInfo { name, entries, order, bytes, placement, .. } = self;
        let kind = placement.name();
        write!(f, "{name} hash table entries: {entries} (order: {order}, {bytes} bytes, {kind})")
    }
}

/// A table for which memory did not suffice: it was halved until it fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shortfall {
    /// The table's name.
    pub name: &'static str,
    /// Buckets that it has.
    pub entries: u64,
    /// Buckets that it should have had.
    pub wanted: u64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortfall { name, entries, wanted } = self;
        write!(f, "{name} hash table: no memory for {wanted} entries; {entries} instead")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_lines_of_the_log() {
        let mut info = TableInfo {
            name: "Dentry cache",
            entries: 524288,
            wanted: 524288,
            order: 10,
            bytes: 4194304,
            placement: Placement::Vmalloc,
            early: false,
            address: VirtAddr(0),
        };
        assert_eq!(
            info.to_string(),
            "Dentry cache hash table entries: 524288 (order: 10, 4194304 bytes, vmalloc)"
        );
        assert_eq!(info.shortfall(), None);
        info.wanted = 1048576;
        assert_eq!(
            info.shortfall().unwrap().to_string(),
            "Dentry cache hash table: no memory for 1048576 entries; 524288 instead"
        );
    }
}
