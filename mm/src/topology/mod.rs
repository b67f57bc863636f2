//! The node map: affinity records, a memory map and options in; every usable frame in exactly one
//! node out, with CPUs and distances.
//!
//! The rules are Linux's (reference: numa-discovery).
#![forbid(unsafe_code)]

use crate::finding::Findings;
use crate::ids::{ApicId, CpuId, NodeId, NodeSet, ProximityDomain};
use crate::units::{Pfn, PfnRange};

/// Usable frames of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeRange {
    /// The frames.
    pub frames: PfnRange,
    /// Whose they are.
    pub node: NodeId,
}

/// A present CPU (enabled in the MADT), running or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cpu {
    /// Its local APIC.
    pub apic: ApicId,
    /// Its node, which may have no memory.
    pub node: NodeId,
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
    /// No SRAT, or one that was refused: node 0 has everything.
    None,
}

/// Memory for a node map, provided by the caller; see `Storage` docs for sizes.
pub struct Storage<'m> {
    /// Usable frames by node.
    pub ranges: &'m mut [NodeRange],
    /// Present CPUs, by [`CpuId`].
    pub cpus: &'m mut [Cpu],
    /// Distances, row by row: `nodes * nodes` bytes.
    pub distances: &'m mut [u8],
}

/// Which node has which memory and which CPUs, and how far nodes are from each other.
pub struct NodeMap<'m> {
    storage: Storage<'m>,
}

/// What a node map is made of. (H3: fields)
pub struct Inputs<'a> {
    _x: core::marker::PhantomData<&'a ()>,
}

#[allow(unused_variables, missing_docs)]
impl<'m> NodeMap<'m> {
    /// Builds the map. Never fails: what cannot be used is a finding, and one node with all
    /// memory is what remains.
    pub fn build(
        inputs: &Inputs<'_>,
        storage: Storage<'m>,
        findings: &mut dyn Findings,
    ) -> NodeMap<'m> {
        todo!()
    }
    /// Where it comes from.
    pub fn source(&self) -> Source {
        todo!()
    }
    /// Nodes that have an id.
    pub fn possible(&self) -> &NodeSet {
        todo!()
    }
    /// Nodes that come up: with memory, CPUs or an initiator.
    pub fn online(&self) -> &NodeSet {
        todo!()
    }
    /// Nodes with memory.
    pub fn with_memory(&self) -> &NodeSet {
        todo!()
    }
    /// Nodes with CPUs.
    pub fn with_cpus(&self) -> &NodeSet {
        todo!()
    }
    /// The domain of a node; `None` without an SRAT.
    pub fn pxm(&self, node: NodeId) -> Option<ProximityDomain> {
        todo!()
    }
    /// All usable frames, ascending, each range of one node; touching ranges of one node are one.
    pub fn ranges(&self) -> &[NodeRange] {
        &self.storage.ranges
    }
    /// The ranges of one node, ascending.
    pub fn node_ranges(&self, node: NodeId) -> impl Iterator<Item = PfnRange> + '_ {
        self.ranges().iter().filter(move |range| range.node == node).map(|range| range.frames)
    }
    /// Whose frame this is.
    pub fn node_of(&self, pfn: Pfn) -> Option<NodeId> {
        todo!()
    }
    /// Present CPUs, by [`CpuId`].
    pub fn cpus(&self) -> &[Cpu] {
        &self.storage.cpus
    }
    /// The node of a CPU; node 0 for one that is not present.
    pub fn node_of_cpu(&self, cpu: CpuId) -> NodeId {
        todo!()
    }
    /// How far `to` is, seen from `from`: 10 to 255. 10 and 20 for ids out of range.
    pub fn distance(&self, from: NodeId, to: NodeId) -> u8 {
        todo!()
    }
}
