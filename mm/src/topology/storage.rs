//! The memory that a node map works in: the caller brings it, as statics in a kernel, as vectors
//! on a host.

use super::domains::Domain;
use super::memory_map::MemoryMap;
use super::records::{Block, CpuRecord};
use super::{Cpu, FakeNodes, NodeRange, Split};
use crate::firmware::cedt::{self, Cedt};
use crate::firmware::srat::{Body, Srat};
use crate::ids::{MAX_NODES, NodeId};

/// Memory for a node map, provided by the caller.
///
/// What it holds beforehand does not matter. [`StorageNeeds`] says how much is enough; with less
/// the map keeps what fits, and a finding says what did not.
#[derive(Default)]
pub struct Storage<'m> {
    /// Usable frames by node.
    pub ranges: &'m mut [NodeRange],
    /// Present CPUs, by [`CpuId`](crate::CpuId).
    pub cpus: &'m mut [Cpu],
    /// Distances, row by row: `nodes * nodes` bytes.
    pub distances: &'m mut [u8],
    /// Proximity domains, by node id: at most [`MAX_NODES`] are used.
    pub domains: &'m mut [Domain],
    /// The SRAT's CPU records.
    pub records: &'m mut [CpuRecord],
    /// The SRAT's memory records.
    pub blocks: &'m mut [Block],
    /// `numa=fake`: the nodes that fake nodes are parts of, by fake node.
    pub fake_nodes: &'m mut [NodeId],
    /// `numa=fake`: the addresses of fake nodes.
    pub fake_blocks: &'m mut [Block],
}

/// How many elements of each kind a node map takes at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StorageNeeds {
    /// Nodes; distances take the square of it.
    pub nodes: usize,
    /// Usable ranges by node.
    pub ranges: usize,
    /// Present CPUs.
    pub cpus: usize,
    /// CPU records.
    pub records: usize,
    /// Memory records.
    pub blocks: usize,
    /// Fake nodes.
    pub fake_nodes: usize,
    /// Parts that nodes are cut into; a fake node may have several.
    pub fake_blocks: usize,
}

impl StorageNeeds {
    /// What [`NodeMap::build`](super::NodeMap::build) takes for these tables, this memory and
    /// this many present CPUs. Walks the table once.
    pub fn of(srat: Option<&[u8]>, memory: &MemoryMap<'_>, cpus: usize) -> StorageNeeds {
        let mut needs = StorageNeeds { cpus, ..StorageNeeds::default() };
        let table = srat.and_then(|bytes| Srat::parse(bytes, &mut |_| ()));
        for entry in table.iter().flat_map(Srat::entries) {
            match entry.body {
                Body::Cpu(cpu) if cpu.enabled => needs.records += 1,
                Body::Memory(memory) if memory.enabled => needs.blocks += 1,
                Body::Initiator(initiator) if initiator.enabled => {}
                _ => continue,
            }
            needs.nodes += 1;
        }
        needs.nodes = needs.nodes.clamp(1, MAX_NODES);
        // Each pair of a usable range and a block that meet ends where one of the two ends.
        needs.ranges = memory.usable().len() + needs.blocks;
        needs
    }

    /// With what the windows of a CEDT take. Walks the table once.
    pub fn with_cedt(mut self, cedt: Option<&[u8]>) -> StorageNeeds {
        let table = cedt.and_then(|bytes| Cedt::parse(bytes, &mut |_| ()));
        let entries = table.iter().flat_map(Cedt::entries);
        let windows = entries.filter(|entry| matches!(entry.body, cedt::Body::Window(_))).count();
        let windows = windows.min(MAX_NODES);
        self.nodes = (self.nodes + windows).min(MAX_NODES);
        self.blocks += windows;
        self.ranges += windows;
        self
    }

    /// With what `numa=fake=` takes. More than 2 * [`MAX_NODES`] parts are not made, as in Linux.
    pub fn with_fake(mut self, fake: Option<&FakeNodes<'_>>) -> StorageNeeds {
        let Some(fake) = fake else { return self };
        self.fake_nodes = match fake.split {
            Split::Nodes(nodes) => (nodes as usize).min(MAX_NODES),
            Split::Size(_) | Split::EachNode(_) => MAX_NODES,
        };
        self.fake_blocks = 2 * MAX_NODES;
        self.nodes = self.nodes.max(self.fake_nodes);
        self.ranges += self.fake_blocks;
        self
    }
}

/// Fixed room for a node map of up to `NODES` nodes, `CPUS` CPUs (also the number of CPU records)
/// and `RANGES` ranges (also the number of memory records).
///
/// Large: a kernel keeps it in a static. `Room<1024, 8192, 4096>` takes about 1.5 MiB.
pub struct Room<const NODES: usize, const CPUS: usize, const RANGES: usize> {
    ranges: [NodeRange; RANGES],
    cpus: [Cpu; CPUS],
    distances: [[u8; NODES]; NODES],
    domains: [Domain; NODES],
    records: [CpuRecord; CPUS],
    blocks: [Block; RANGES],
    fake_nodes: [NodeId; NODES],
    fake_blocks: [[Block; 2]; NODES],
}

impl<const NODES: usize, const CPUS: usize, const RANGES: usize> Room<NODES, CPUS, RANGES> {
    /// Empty room.
    pub const fn new() -> Self {
        Room {
            ranges: [NodeRange::NONE; RANGES],
            cpus: [Cpu::NONE; CPUS],
            distances: [[0; NODES]; NODES],
            domains: [Domain::NONE; NODES],
            records: [CpuRecord::NONE; CPUS],
            blocks: [Block::NONE; RANGES],
            fake_nodes: [NodeId(0); NODES],
            fake_blocks: [[Block::NONE; 2]; NODES],
        }
    }

    /// The room as storage for one map, which lives as long as the borrow.
    pub fn storage(&mut self) -> Storage<'_> {
        Storage {
            ranges: &mut self.ranges,
            cpus: &mut self.cpus,
            distances: self.distances.as_flattened_mut(),
            domains: &mut self.domains,
            records: &mut self.records,
            blocks: &mut self.blocks,
            fake_nodes: &mut self.fake_nodes,
            fake_blocks: self.fake_blocks.as_flattened_mut(),
        }
    }
}

impl<const NODES: usize, const CPUS: usize, const RANGES: usize> Default
    for Room<NODES, CPUS, RANGES>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Room on the host's heap, exactly as large as is needed.
#[cfg(any(test, feature = "sim"))]
pub struct HeapRoom {
    ranges: std::vec::Vec<NodeRange>,
    cpus: std::vec::Vec<Cpu>,
    distances: std::vec::Vec<u8>,
    domains: std::vec::Vec<Domain>,
    records: std::vec::Vec<CpuRecord>,
    blocks: std::vec::Vec<Block>,
    fake_nodes: std::vec::Vec<NodeId>,
    fake_blocks: std::vec::Vec<Block>,
}

#[cfg(any(test, feature = "sim"))]
impl HeapRoom {
    /// Room for `needs`.
    pub fn new(needs: StorageNeeds) -> HeapRoom {
        use std::vec;
        HeapRoom {
            ranges: vec![NodeRange::NONE; needs.ranges],
            cpus: vec![Cpu::NONE; needs.cpus],
            distances: vec![0; needs.nodes * needs.nodes],
            domains: vec![Domain::NONE; needs.nodes],
            records: vec![CpuRecord::NONE; needs.records],
            blocks: vec![Block::NONE; needs.blocks],
            fake_nodes: vec![NodeId(0); needs.fake_nodes],
            fake_blocks: vec![Block::NONE; needs.fake_blocks],
        }
    }

    /// The room as storage for one map, which lives as long as the borrow.
    pub fn storage(&mut self) -> Storage<'_> {
        Storage {
            ranges: &mut self.ranges,
            cpus: &mut self.cpus,
            distances: &mut self.distances,
            domains: &mut self.domains,
            records: &mut self.records,
            blocks: &mut self.blocks,
            fake_nodes: &mut self.fake_nodes,
            fake_blocks: &mut self.fake_blocks,
        }
    }
}
