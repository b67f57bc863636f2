//! Findings: what was wrong with the firmware's tables, the memory map or the command line, and
//! was tolerated.
//!
//! Every kind has a fixed name, as `map` and the facts print it. Warnings are faults of the
//! input; notes are facts that a reader of the map will want to know.

#![forbid(unsafe_code)]

/// Takes findings as they are made. Any `FnMut(Finding)` is one.
pub trait Findings {
    /// Takes one.
    fn add(&mut self, finding: Finding);
}

impl<F: FnMut(Finding)> Findings for F {
    fn add(&mut self, finding: Finding) {
        self(finding)
    }
}

/// One tolerated defect, or one noteworthy fact, and where it was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {}
