//! Machines made by hand, for tests: node maps from small SRATs.

use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use crate::finding::Finding;
use crate::options;
use crate::topology::access::{Access, AccessNode, AccessStorage};
use crate::topology::{
    HeapRoom, Inputs, MapOptions, MemoryMap, NodeMap, Region, RegionKind, StorageNeeds,
};
use crate::units::PfnRange;

/// A domain, and what it has.
pub type Domain = (u32, u8);
/// Has a CPU.
pub const CPUS: u8 = 1;
/// Has 1 GiB of memory.
pub const MEMORY: u8 = 2;
/// Has a generic initiator.
pub const DEVICE: u8 = 4;

const GIB: u64 = 1 << 30;

/// A machine of these domains.
pub struct Machine<'a> {
    pub domains: &'a [Domain],
    /// The value of `numa=`; empty for none.
    pub numa: &'a str,
    /// Whether the SRAT has a record of a length that cannot be.
    pub damaged: bool,
    /// Elements of each slice of the storage; `None` for as many as are needed.
    pub room: Option<usize>,
}

impl<'a> Machine<'a> {
    pub fn new(domains: &'a [Domain]) -> Machine<'a> {
        Machine { domains, numa: "", damaged: false, room: None }
    }

    /// Builds all of it, and gives the names of what was found in the HMAT. Returns the findings'
    /// lines.
    pub fn look(
        &self,
        hmat: &[u8],
        look: impl FnOnce(&Access<'_>, &[&'static str]),
    ) -> Vec<String> {
        let srat = self.srat();
        let memory = self.domains.iter().filter(|(_, has)| has & MEMORY != 0).count() as u64;
        let mut regions = [Region::new(0, memory * GIB, RegionKind::Usable)];
        let mut usable = [PfnRange::default(); 1];
        let rules = MapOptions::default();
        let memory = MemoryMap::build(&mut regions, &mut usable, rules, &mut |_| ());
        let line = std::format!("numa={}", self.numa);
        let options::Options { numa, fake, .. } = options::parse(&line, &mut |_| ());
        let inputs = Inputs { srat: Some(&srat), numa, fake, ..Inputs::new(&memory) };
        let needs = StorageNeeds::of(Some(&srat), &memory, 0).with_fake(fake.as_ref());
        let mut room = HeapRoom::new(needs);
        let map = NodeMap::build(&inputs, room.storage(), &mut |_| ());

        let room = self.room.unwrap_or(Access::room(&map));
        let mut nodes = vec![AccessNode::NONE; room];
        let (mut distances, mut weights) = (vec![99; room], vec![99; room]);
        let storage =
            AccessStorage { nodes: &mut nodes, distances: &mut distances, weights: &mut weights };
        let mut seen: Vec<Finding> = Vec::new();
        let access = Access::build(hmat, &map, storage, &mut |finding| seen.push(finding));
        let names: Vec<_> = seen.iter().map(|finding| finding.kind.name()).collect();
        look(&access, &names);
        seen.iter().map(ToString::to_string).collect()
    }

    fn srat(&self) -> Vec<u8> {
        let mut bytes = vec![0; 48];
        bytes[..4].copy_from_slice(b"SRAT");
        bytes[8] = 3;
        let mut apic = 0;
        for &(pxm, has) in self.domains {
            if has & CPUS != 0 {
                bytes.extend([2, 24, 0, 0]);
                bytes.extend([pxm, apic, 1, 0, 0].map(u32::to_le_bytes).concat());
                apic += 1;
            }
            if has & DEVICE != 0 {
                bytes.extend([5, 32, 0, 0]);
                bytes.extend([pxm, 0, 0, 0, 0, 1, 0].map(u32::to_le_bytes).concat());
            }
        }
        let with_memory = self.domains.iter().filter(|(_, has)| has & MEMORY != 0);
        for (at, &(pxm, _)) in with_memory.enumerate() {
            let mut record = [0; 40];
            record[..2].copy_from_slice(&[1, 40]);
            record[2..6].copy_from_slice(&pxm.to_le_bytes());
            record[8..16].copy_from_slice(&(at as u64 * GIB).to_le_bytes());
            record[16..24].copy_from_slice(&GIB.to_le_bytes());
            record[28] = 1;
            bytes.extend(record);
        }
        if self.damaged {
            bytes.extend([1, 39]);
            bytes.extend([0; 37]);
        }
        let length = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        bytes
    }
}
