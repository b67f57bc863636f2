//! Tables made of records, and node maps made of tables.

use nearmem::finding::{FakePart, Finding, Merge, OneNode};
use nearmem::topology::{
    FakeNodes, HeapRoom, Inputs, MapOptions, MemoryMap, NodeMap, NumaOption, Region, RegionKind,
    StorageNeeds, UnlistedCpus,
};
use nearmem::{ApicId, PfnRange, PhysRange};

/// An SRAT of raw records.
pub fn srat(revision: u8, records: &[Vec<u8>]) -> Vec<u8> {
    let body = [&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &records.concat()].concat();
    table(b"SRAT", revision, &body)
}

/// A SLIT; `matrix` has as many bytes as it likes.
pub fn slit(count: u64, matrix: &[u8]) -> Vec<u8> {
    table(b"SLIT", 1, &[&count.to_le_bytes()[..], matrix].concat())
}

/// A table with a header that is right.
pub fn table(signature: &[u8; 4], revision: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 36];
    bytes[..4].copy_from_slice(signature);
    bytes[8] = revision;
    bytes.extend(body);
    let length = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[9] = sum.wrapping_neg();
    bytes
}

/// Type 1, enabled.
pub fn memory(pxm: u32, range: PhysRange) -> Vec<u8> {
    let mut record = vec![0; 40];
    record[..2].copy_from_slice(&[1, 40]);
    record[2..6].copy_from_slice(&pxm.to_le_bytes());
    record[8..16].copy_from_slice(&range.start.0.to_le_bytes());
    record[16..24].copy_from_slice(&range.len().to_le_bytes());
    record[28] = 1;
    record
}

/// Type 2, enabled.
pub fn cpu(pxm: u32, apic: u32) -> Vec<u8> {
    let mut record = vec![0; 24];
    record[..2].copy_from_slice(&[2, 24]);
    record[4..8].copy_from_slice(&pxm.to_le_bytes());
    record[8..12].copy_from_slice(&apic.to_le_bytes());
    record[12] = 1;
    record
}

/// Type 5, enabled.
pub fn initiator(pxm: u32) -> Vec<u8> {
    let mut record = vec![0; 32];
    record[..2].copy_from_slice(&[5, 32]);
    record[4..8].copy_from_slice(&pxm.to_le_bytes());
    record[24] = 1;
    record
}

/// Takes findings, merges and parts of fake nodes.
#[derive(Default)]
pub struct Seen {
    pub findings: Vec<Finding>,
    pub merges: Vec<Merge>,
    pub parts: Vec<FakePart>,
    pub one_node: Option<OneNode>,
}

impl nearmem::finding::Findings for Seen {
    fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    fn merged(&mut self, merge: Merge) {
        self.merges.push(merge);
    }
    fn one_node(&mut self, one: OneNode) {
        assert_eq!(self.one_node.replace(one), None, "said twice");
    }
    fn faked(&mut self, part: FakePart) {
        self.parts.push(part);
    }
}

impl Seen {
    /// Names of the findings in the order in which they were made.
    pub fn names(&self) -> Vec<&'static str> {
        self.findings.iter().map(|finding| finding.kind.name()).collect()
    }
}

/// Usable memory as the frames of a memory map.
pub fn frames(ram: &[PhysRange]) -> Vec<PfnRange> {
    let mut regions: Vec<_> =
        ram.iter().map(|&range| Region { range, kind: RegionKind::Usable }).collect();
    let mut room = vec![PfnRange::default(); ram.len()];
    let map = MemoryMap::build(&mut regions, &mut room, MapOptions::default(), &mut |_| ());
    map.usable().to_vec()
}

/// A machine's tables and memory, and how the map is to be built.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    pub ram: &'a [PhysRange],
    pub srat: Option<&'a [u8]>,
    pub slit: Option<&'a [u8]>,
    pub cedt: Option<&'a [u8]>,
    pub cpus: &'a [ApicId],
    pub unlisted: UnlistedCpus,
    pub max_apic_id: u32,
    pub numa: NumaOption,
    pub fake: Option<FakeNodes<'a>>,
}

impl<'a> Machine<'a> {
    /// This memory and this SRAT; no SLIT, no CPUs.
    pub fn new(ram: &'a [PhysRange], srat: &'a [u8]) -> Machine<'a> {
        Machine {
            ram,
            srat: Some(srat),
            slit: None,
            cedt: None,
            cpus: &[],
            unlisted: UnlistedCpus::Dealt,
            max_apic_id: Inputs::X2APIC,
            numa: NumaOption::On,
            fake: None,
        }
    }

    /// Builds the map with exactly the storage that it needs, and looks at it.
    pub fn map<R>(&self, look: impl FnOnce(&NodeMap<'_>, &Seen) -> R) -> R {
        let mut regions: Vec<_> =
            self.ram.iter().map(|&range| Region { range, kind: RegionKind::Usable }).collect();
        let mut room = vec![PfnRange::default(); regions.len()];
        let mut seen = Seen::default();
        let memory = MemoryMap::build(&mut regions, &mut room, MapOptions::default(), &mut seen);
        let inputs = Inputs {
            srat: self.srat,
            slit: self.slit,
            cedt: self.cedt,
            memory: &memory,
            cpus: self.cpus,
            unlisted: self.unlisted,
            max_apic_id: self.max_apic_id,
            numa: self.numa,
            fake: self.fake,
        };
        let needs = StorageNeeds::of(self.srat, &memory, self.cpus.len());
        let needs = needs.with_cedt(self.cedt).with_fake(self.fake.as_ref());
        let mut room = HeapRoom::new(needs);
        let map = NodeMap::build(&inputs, room.storage(), &mut seen);
        look(&map, &seen)
    }

    /// Names of all that is found.
    pub fn names(&self) -> Vec<&'static str> {
        self.map(|_, seen| seen.names())
    }
}
