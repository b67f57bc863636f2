//! Findings as they come, and what must hold of each.

use nearmem::finding::{FakePart, Finding, Findings, Kind, Merge};

/// Takes findings, merges and parts of fake nodes.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Collected {
    /// What was found, in order.
    pub findings: Vec<Finding>,
    /// Ranges that were joined, in order.
    pub merges: Vec<Merge>,
    /// Parts of fake nodes, in order.
    pub parts: Vec<FakePart>,
}

impl Findings for Collected {
    fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn merged(&mut self, merge: Merge) {
        self.merges.push(merge);
    }

    fn faked(&mut self, part: FakePart) {
        self.parts.push(part);
    }
}

impl Collected {
    /// Whether a kind of this name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.kinds().any(|kind| kind.name() == name)
    }

    /// The kinds, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.findings.iter().map(|finding| &finding.kind)
    }

    /// At most `most` findings, each one line of bearable length with a listed name, and in a
    /// table of `length` bytes if it has an offset there.
    pub fn check(&self, most: usize, lengths: &[(&str, usize)]) {
        let count = self.findings.len();
        assert!(count <= most, "{count} findings, and {most} are the most there can be");
        for finding in &self.findings {
            let text = finding.to_string();
            let printable = text.chars().all(|letter| !letter.is_control());
            assert!(printable && (8..400).contains(&text.len()), "{text:?}");
            let name = finding.kind.name();
            assert!(Kind::NAMES.iter().any(|&(listed, _)| listed == name), "{name}");
            let (table, offset) = (finding.place.table, finding.place.offset);
            let length = lengths.iter().find(|(table_name, _)| Some(*table_name) == table);
            if let (Some((_, length)), Some(offset)) = (length, offset) {
                assert!(offset as usize <= *length, "{text} in {length} bytes");
            }
        }
    }
}
