//! Findings: what was wrong with the firmware's tables, the memory map or the command line, and
//! was tolerated.
//!
//! Every kind has a fixed name, as `map` and the facts print it. Warnings are faults of the
//! input; notes are facts that a reader of the map will want to know. A finding prints as one
//! line that says what is wrong and what is done instead.
//!
//! To add a kind, add its lines to `finding/kinds.rs` and a row to `docs/findings.md`.

#![forbid(unsafe_code)]

mod kinds;
mod log;

use core::fmt;

pub use kinds::{Kind, Uncovered};
pub use log::Log;

use crate::ids::NodeId;
use crate::units::{PhysAddr, PhysRange};

/// Takes findings as they are made. Any `FnMut(Finding)` is one.
pub trait Findings {
    /// Takes one.
    fn add(&mut self, finding: Finding);

    /// Two ranges of one node have become one, the holes between them included: no defect, but
    /// Linux logs it. Nothing unless overridden.
    fn merged(&mut self, _merge: Merge) {}

    /// Node 0 has all memory, since no table says otherwise or none is to count: Linux logs it.
    /// Nothing unless overridden.
    fn one_node(&mut self, _one: OneNode) {}

    /// A part of a node has become a fake node, or a part of one: no defect, but Linux logs it.
    /// Nothing unless overridden.
    fn faked(&mut self, _part: FakePart) {}
}

impl<F: FnMut(Finding)> Findings for F {
    fn add(&mut self, finding: Finding) {
        self(finding)
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// A fact, not a fault.
    Note,
    /// A fault of the input.
    Warning,
}

impl Severity {
    /// `note` or `warning`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
        }
    }
}

/// Where something was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Signature of the table: `SRAT`, `SLIT`; `None` when it is not in a table.
    pub table: Option<&'static str>,
    /// Offset in the table, in bytes.
    pub offset: Option<u32>,
    /// Number of the record, from 0.
    pub record: Option<u32>,
}

impl Place {
    /// Not in a table.
    pub const NOWHERE: Place = Place { table: None, offset: None, record: None };

    /// A table as a whole.
    pub const fn table(signature: &'static str) -> Place {
        Place { table: Some(signature), offset: None, record: None }
    }

    /// A byte of a table.
    pub const fn byte(signature: &'static str, offset: u32) -> Place {
        Place { table: Some(signature), offset: Some(offset), record: None }
    }

    /// A record of a table.
    pub const fn record(signature: &'static str, offset: u32, record: u32) -> Place {
        Place { table: Some(signature), offset: Some(offset), record: Some(record) }
    }
}

/// As a prefix of a line: `SRAT, record 3 at 0x60: `, or nothing.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(table) = self.table else { return Ok(()) };
        f.write_str(table)?;
        if let Some(record) = self.record {
            write!(f, ", record {record}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at {offset:#x}")?;
        }
        f.write_str(": ")
    }
}

/// One tolerated defect, or one noteworthy fact, and where it was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is, with its figures.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
}

impl Finding {
    /// A finding that is not in a table.
    pub const fn new(kind: Kind) -> Finding {
        Finding { kind, place: Place::NOWHERE }
    }

    /// A finding at a place.
    pub const fn at(place: Place, kind: Kind) -> Finding {
        Finding { kind, place }
    }
}

/// The whole line: place, what is wrong, what is done instead.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.kind)
    }
}

/// Two ranges of one node that became one. Prints as Linux's log line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merge {
    /// Whose they are.
    pub node: NodeId,
    /// What was there.
    pub first: PhysRange,
    /// What came to it.
    pub second: PhysRange,
    /// Both, and what lies between them.
    pub hull: PhysRange,
}

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Merge { node, first, second, hull } = self;
        write!(f, "NUMA: Node {node} {first} + {second} -> {hull}")
    }
}

/// One node with all memory instead of what tables say. Prints as Linux's two log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneNode {
    /// Whether that was asked for by `numa=off`.
    pub off: bool,
    /// The end of memory.
    pub end: PhysAddr,
}

impl fmt::Display for OneNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.off { "NUMA turned off" } else { "No NUMA configuration found" };
        let last = self.end.0.saturating_sub(1);
        write!(f, "{why}\nFaking a node at [mem {:#018x}-{last:#018x}]", 0)
    }
}

/// Addresses that were given to a fake node. Prints as Linux's log line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FakePart {
    /// Whose they are.
    pub node: NodeId,
    /// The addresses, holes included.
    pub range: PhysRange,
}

impl fmt::Display for FakePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FakePart { node, range } = self;
        let (start, last) = (range.start.0, range.end.0.saturating_sub(1));
        let mib = range.len() >> 20;
        write!(f, "Faking node {node} at [mem {start:#018x}-{last:#018x}] ({mib}MB)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_finding_is_one_line_with_its_place() {
        let kind = Kind::SratMemoryWraps { base: 0xffff_ffff_e000_0000, length: 0x4000_0000 };
        let finding = Finding::at(Place::record("SRAT", 0xe8, 4), kind);
        assert_eq!(
            finding.to_string(),
            "SRAT, record 4 at 0xe8: base 0xffffffffe0000000 plus length 0x40000000 is beyond \
             64 bits: the range is ignored"
        );
        assert_eq!(kind.name(), "srat-memory-wraps");
        assert_eq!(kind.severity(), Severity::Warning);
    }

    #[test]
    fn a_merge_is_linux_log_line() {
        let merge = Merge {
            node: NodeId(0),
            first: PhysRange::new(0, 0xa0000),
            second: PhysRange::new(0x100000, 0x20000000),
            hull: PhysRange::new(0, 0x20000000),
        };
        assert_eq!(
            merge.to_string(),
            "NUMA: Node 0 [mem 0x00000000-0x0009ffff] + [mem 0x00100000-0x1fffffff] -> \
             [mem 0x00000000-0x1fffffff]"
        );
    }

    #[test]
    fn one_node_is_two_lines_of_linux_log() {
        let one = |off| OneNode { off, end: PhysAddr(0x3ffd_f000) }.to_string();
        let place = "Faking a node at [mem 0x0000000000000000-0x000000003ffdefff]";
        assert_eq!(one(false), ["No NUMA configuration found", place].join("\n"));
        assert_eq!(one(true), ["NUMA turned off", place].join("\n"));
    }

    #[test]
    fn a_part_of_a_fake_node_is_linux_log_line() {
        let part = FakePart { node: NodeId(3), range: PhysRange::new(0x60000000, 0x7ffe0000) };
        let line = "Faking node 3 at [mem 0x0000000060000000-0x000000007ffdffff] (511MB)";
        assert_eq!(part.to_string(), line);
    }
}
