//! The node map: affinity records, a memory map and options in; every usable frame in exactly one
//! node out, with CPUs and distances.
//!
//! ```text
//! memory map -> MemoryMap \
//! SRAT, CEDT -> domains, CPU records, blocks -> clean-up -> coverage -> NodeRange
//! CPUs  -> node of each / SLIT -> distances
//! numa=fake -> the same memory, CPUs and distances on parts of nodes
//! HMAT and node map -> Access: latencies, bandwidths, tiers, interleave weights
//! ```
//!
//! The rules are Linux's (reference: numa-discovery). Whatever is wrong with the input becomes a
//! [`Finding`](crate::finding::Finding); a map comes out in any case.
#![forbid(unsafe_code)]

pub mod access;
mod build;
mod by_hand;
mod cleanup;
mod cover;
mod cpus;
mod distances;
mod domains;
mod draft;
mod emulate;
mod fake;
mod fill;
mod inputs;
mod memory_map;
mod notes;
mod records;
mod storage;
mod walk;
mod windows;

use crate::ids::{ApicId, CpuId, MAX_NODES, NodeId, NodeSet, ProximityDomain};
use crate::units::{Pfn, PfnRange, PhysAddr};

pub use domains::Domain;
pub use fake::{FakeDistances, FakeNodes, Split};
pub use inputs::{CacheId, Inputs, NumaOption, UnlistedCpus};
pub use memory_map::{Change, ChangeRoom, MapOptions, MemoryMap, Region, RegionKind};
pub use records::{Block, CpuRecord};
#[cfg(any(test, feature = "sim"))]
pub use storage::HeapRoom;
pub use storage::{Room, Storage, StorageNeeds};

/// Usable frames of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeRange {
    /// The frames.
    pub frames: PfnRange,
    /// Whose they are.
    pub node: NodeId,
}

impl NodeRange {
    /// No frames, to fill storage with.
    pub const NONE: NodeRange = NodeRange { frames: PfnRange::new(0, 0), node: NodeId(0) };
}

/// A present CPU (enabled in the MADT), running or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cpu {
    /// Its local APIC.
    pub apic: ApicId,
    /// Its node, which may have no memory; the first part of it when nodes are split by
    /// `numa=fake`.
    pub node: NodeId,
}

impl Cpu {
    /// APIC 0 on node 0, to fill storage with.
    pub const NONE: Cpu = Cpu { apic: ApicId(0), node: NodeId(0) };
}

/// Where a node map comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The SRAT.
    Srat,
    /// `numa=fake`.
    Fake,
    /// `numa=off`.
    Off,
    /// No SRAT, or one that was refused: node 0 has everything. Or a map made by hand.
    None,
}

impl Source {
    /// The word that the facts have for it: `srat`, `fake`, `off` or `none`.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Srat => "srat",
            Source::Fake => "fake",
            Source::Off => "off",
            Source::None => "none",
        }
    }
}

/// Which node has which memory and which CPUs, and how far nodes are from each other.
pub struct NodeMap<'m> {
    source: Source,
    possible: NodeSet,
    online: NodeSet,
    with_memory: NodeSet,
    with_cpus: NodeSet,
    initiators: NodeSet,
    ranges: &'m [NodeRange],
    cpus: &'m [Cpu],
    distances: distances::Distances<'m>,
    domains: &'m [Domain],
    records: &'m [CpuRecord],
    blocks: &'m [Block],
    parts: fake::Parts<'m>,
    by_srat: bool,
    uncovered: u64,
}

impl<'m> NodeMap<'m> {
    /// Where it comes from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Whether the SRAT stands: its domains are the nodes, or what fake nodes are parts of.
    pub fn is_by_srat(&self) -> bool {
        self.by_srat
    }

    /// Nodes that have an id.
    pub fn possible(&self) -> &NodeSet {
        &self.possible
    }

    /// Nodes that come up: with memory, CPUs or an initiator.
    pub fn online(&self) -> &NodeSet {
        &self.online
    }

    /// Nodes with memory.
    pub fn with_memory(&self) -> &NodeSet {
        &self.with_memory
    }

    /// Nodes with CPUs: present ones, or where no CPUs were given, those that the SRAT names. Of
    /// nodes that are split, as Linux's `has_cpu`: all parts of the boot CPU's node, the first part
    /// of others; [`NodeMap::cpus_of`] knows all parts.
    pub fn with_cpus(&self) -> &NodeSet {
        &self.with_cpus
    }

    /// Nodes with a generic initiator (SRAT type 5).
    pub fn with_initiators(&self) -> &NodeSet {
        &self.initiators
    }

    /// The domain of a node; `None` without an SRAT and for fake nodes.
    pub fn pxm(&self, node: NodeId) -> Option<ProximityDomain> {
        match self.source {
            Source::Srat => self.domains.get(node.index()).map(|domain| domain.pxm),
            _ => None,
        }
    }

    /// The id that a domain got when the SRAT and the CEDT were read, also when the SRAT was refused later: what
    /// the boot log prints with each record. `None` for a domain that no enabled record names.
    pub fn node_of_pxm(&self, pxm: ProximityDomain) -> Option<NodeId> {
        domains::find(self.domains, pxm)
    }

    /// All usable frames, ascending, each range of one node; touching ranges of one node are one.
    pub fn ranges(&self) -> &'m [NodeRange] {
        self.ranges
    }

    /// The ranges of one node, ascending.
    pub fn node_ranges(&self, node: NodeId) -> impl Iterator<Item = PfnRange> + '_ {
        self.ranges().iter().filter(move |range| range.node == node).map(|range| range.frames)
    }

    /// Whose frame this is; `None` for what is no usable memory.
    pub fn node_of(&self, pfn: Pfn) -> Option<NodeId> {
        let after = self.ranges.partition_point(|range| range.frames.start <= pfn);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        range.frames.contains(pfn).then_some(range.node)
    }

    /// Whose address this is by [`NodeMap::blocks`], memory or not: a hole between two ranges of
    /// one node is that node's. `None` between nodes, outside, and where there are none.
    pub fn node_of_address(&self, address: PhysAddr) -> Option<NodeId> {
        let after = self.blocks.partition_point(|block| block.range.start <= address);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        block.range.contains(address).then_some(block.node)
    }

    /// The SRAT's ranges after the clean-up, and CXL windows with memory, ascending and disjoint:
    /// those of one node joined over holes, cut at the end of memory. With fake nodes, what they were cut into, SRAT or not.
    /// Empty without either.
    pub fn blocks(&self) -> &'m [Block] {
        self.blocks
    }

    /// Present CPUs, by [`CpuId`].
    pub fn cpus(&self) -> &'m [Cpu] {
        self.cpus
    }

    /// The node of a CPU; node 0 for one that is not present.
    pub fn node_of_cpu(&self, cpu: CpuId) -> NodeId {
        self.cpus.get(cpu.index()).map(|cpu| cpu.node).unwrap_or_default()
    }

    /// The CPUs of a node, ascending. CPUs of a node that is split are on every part of it.
    pub fn cpus_of(&self, node: NodeId) -> impl Iterator<Item = CpuId> + '_ {
        let (whole, online) = (self.parts.whole(node), self.online.contains(node));
        let here = move |cpu: &Cpu| online && self.parts.whole(cpu.node) == whole;
        let cpus = (0..).map(CpuId).zip(self.cpus);
        cpus.filter(move |&(_, cpu)| here(cpu)).map(|(id, _)| id)
    }

    /// How many CPUs each node has, by node: as many as [`NodeMap::cpus_of`] gives.
    pub fn cpu_counts(&self) -> [u16; MAX_NODES] {
        let mut by_whole = [0_u16; MAX_NODES];
        for cpu in self.cpus {
            if let Some(count) = by_whole.get_mut(self.parts.whole(cpu.node).index()) {
                *count = count.saturating_add(1);
            }
        }
        let mut counts = [0; MAX_NODES];
        for node in self.online.iter() {
            let whole = by_whole.get(self.parts.whole(node).index());
            if let Some((count, &whole)) = counts.get_mut(node.index()).zip(whole) {
                *count = whole;
            }
        }
        counts
    }

    /// The node that a fake node is a part of, as the SRAT numbers them; the node itself when
    /// nodes are not split.
    pub fn whole(&self, node: NodeId) -> NodeId {
        self.parts.whole(node)
    }

    /// The SRAT's enabled CPU records, ascending by APIC id, each id once, present or not. Without
    /// an SRAT that stands all are on node 0.
    pub fn cpu_records(&self) -> &'m [CpuRecord] {
        self.records
    }

    /// How far `to` is, seen from `from`: 10 to 255. 10 and 20 for ids out of range.
    pub fn distance(&self, from: NodeId, to: NodeId) -> u8 {
        self.distances.get(from, to)
    }

    /// Usable bytes in no range of the SRAT. Below 1 MiB they are on no node; from there on the
    /// SRAT is refused for them, and they are on node 0 as everything is.
    pub fn uncovered_bytes(&self) -> u64 {
        self.uncovered
    }
}
