//! What was wrong with the machine's description and was tolerated: printed as it is found, kept
//! for the facts.

use alloc::string::ToString;
use alloc::vec::Vec;

use nearmem::finding::{FakePart, Finding, Findings, Merge, OneNode};
use nearmem::options::Complaint;
use nearmem_x86_64::println;
use serde_json::{Value, json};
use spin::Mutex;

/// How many are kept; what comes after is printed only.
const ROOM: usize = 256;
/// How many of one kind are kept, so that a defect in every record leaves room for other kinds.
const OF_ONE_KIND: usize = 16;

struct Kept {
    findings: [Option<Finding>; ROOM],
    complaints: [Option<Complaint<'static>>; ROOM],
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { findings: [None; ROOM], complaints: [None; ROOM] });

fn keep<T>(slots: &mut [Option<T>], value: T) {
    if let Some(slot) = slots.iter_mut().find(|slot| slot.is_none()) {
        *slot = Some(value);
    }
}

/// Prints findings and keeps them.
#[derive(Clone, Copy, Debug)]
pub struct Report;

impl Findings for Report {
    fn add(&mut self, finding: Finding) {
        println!("{}: {finding}", finding.kind.severity().name());
        let mut kept = KEPT.lock();
        let same = kept.findings.iter().flatten().filter(|f| f.kind.name() == finding.kind.name());
        if same.count() < OF_ONE_KIND {
            keep(&mut kept.findings, finding);
        }
    }

    fn merged(&mut self, merge: Merge) {
        println!("{merge}");
    }

    fn one_node(&mut self, one: OneNode) {
        println!("{one}");
    }

    fn faked(&mut self, part: FakePart) {
        println!("{part}");
    }
}

/// Prints a word of the command line that had no effect, and keeps it.
pub fn complain(complaint: Complaint<'static>) {
    println!("warning: {complaint}");
    keep(&mut KEPT.lock().complaints, complaint);
}

/// All that are kept, as the facts have them.
pub fn as_json() -> Vec<Value> {
    let kept = KEPT.lock();
    let complaints = kept.complaints.iter().flatten().map(|complaint| {
        json!({"kind": complaint.kind(), "severity": "warning", "table": null, "offset": null,
               "record": null, "text": complaint.to_string()})
    });
    let findings = kept.findings.iter().flatten().map(|finding| {
        json!({"kind": finding.kind.name(), "severity": finding.kind.severity().name(),
               "table": finding.place.table, "offset": finding.place.offset,
               "record": finding.place.record, "text": finding.to_string()})
    });
    complaints.chain(findings).collect()
}

/// The names of the kinds that were found.
pub fn kinds() -> Vec<&'static str> {
    let kept = KEPT.lock();
    let complaints = kept.complaints.iter().flatten().map(Complaint::kind);
    complaints.chain(kept.findings.iter().flatten().map(|finding| finding.kind.name())).collect()
}
