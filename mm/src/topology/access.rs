//! How fast nodes reach memory: an HMAT and a node map in; latencies and bandwidths, best
//! initiators, tiers and interleave weights out.
//!
//! ```text
//! HMAT -> the matrix of each figure -> rows and columns by node -> figures, best initiators
//!                                                               -> DRAM's figures -> tiers
//!                                                               -> bandwidths -> weights
//! ```
//!
//! The rules are Linux's (reference: numa-discovery, section 10). Figures stay where they are, in
//! the table's bytes; what is kept is where each node stands in them. Building looks at each byte
//! of the table a fixed number of times.

mod best;
mod index;
mod tiers;
mod weights;

use super::NodeMap;
use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::hmat::{Body, Hmat, SIGNATURE, SideCache};
use crate::ids::{NodeId, NodeSet};

pub use best::{Best, Class};
pub use index::{AccessNode, Metric};
pub use tiers::{CHUNK_SHIFT, DRAM_DISTANCE};
pub use weights::WEIGHTINESS;

use index::Matrices;

/// What is known about a path to memory. `None` is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Nanoseconds until a read is answered.
    pub read_latency: Option<u32>,
    /// Nanoseconds until a write is done.
    pub write_latency: Option<u32>,
    /// MB/s that can be read.
    pub read_bandwidth: Option<u32>,
    /// MB/s that can be written.
    pub write_bandwidth: Option<u32>,
}

/// Memory for [`Access`], provided by the caller: [`Access::room`] elements each. What it holds
/// beforehand does not matter.
#[derive(Default)]
pub struct AccessStorage<'m> {
    /// Where nodes stand in the table.
    pub nodes: &'m mut [AccessNode],
    /// Abstract distances.
    pub distances: &'m mut [u32],
    /// Interleave weights.
    pub weights: &'m mut [u8],
}

/// How fast nodes reach memory. Parts of a node that is split by `numa=fake` are as fast as the
/// node.
pub struct Access<'m> {
    map: &'m NodeMap<'m>,
    hmat: Option<Hmat<'m>>,
    matrices: Matrices<'m>,
    nodes: &'m [AccessNode],
    distances: &'m [u32],
    weights: &'m [u8],
    /// Nodes with CPUs, as the SRAT numbers them.
    with_cpus: NodeSet,
}

impl<'m> Access<'m> {
    /// How many elements of each slice of [`AccessStorage`] are needed, at most
    /// [`MAX_NODES`](crate::ids::MAX_NODES).
    pub fn room(map: &NodeMap<'_>) -> usize {
        let nodes = map.possible().iter().last().map_or(0, |node| node.index() + 1);
        nodes.max(map.domains.len())
    }

    /// Nothing is known: one tier, and all weights are 1.
    pub fn unknown(map: &'m NodeMap<'m>) -> Access<'m> {
        Access {
            map,
            hmat: None,
            matrices: Matrices::default(),
            nodes: &[],
            distances: &[],
            weights: &[],
            with_cpus: NodeSet::EMPTY,
        }
    }

    /// Reads a whole HMAT, header included. Never fails: what cannot be used is a finding. Without
    /// an SRAT that stands, or with a table that is refused, nothing is known.
    pub fn build(
        hmat: &'m [u8],
        map: &'m NodeMap<'m>,
        storage: AccessStorage<'m>,
        findings: &mut dyn Findings,
    ) -> Access<'m> {
        let mut access = Access::unknown(map);
        if !map.is_by_srat() {
            findings.add(Finding::at(Place::table(SIGNATURE), Kind::HmatWithoutSrat));
            return access;
        }
        let Some(hmat) = Hmat::parse(hmat, findings) else { return access };
        let AccessStorage { nodes, distances, weights } = storage;
        let room = nodes.len().min(distances.len()).min(weights.len());
        if room < Access::room(map) {
            let kind = Kind::HmatTooManyNodes { limit: room as u32 };
            findings.add(Finding::at(Place::table(SIGNATURE), kind));
        }
        access.with_cpus = match map.cpus() {
            [] => map.with_cpus().iter().map(|node| map.whole(node)).collect(),
            cpus => cpus.iter().map(|cpu| map.whole(cpu.node)).collect(),
        };
        access.matrices = index::fill(&hmat, map, nodes, findings);
        access.nodes = nodes;
        access.hmat = Some(hmat);
        tiers::fill(&access, distances, findings);
        access.distances = distances;
        weights::fill(&access, weights, findings);
        access.weights = weights;
        access
    }

    /// The HMAT in use.
    pub fn hmat(&self) -> Option<&Hmat<'m>> {
        self.hmat.as_ref()
    }

    /// Whether an HMAT is in use.
    pub fn is_known(&self) -> bool {
        self.hmat.is_some()
    }

    /// The nodes that these are the paths of.
    pub fn map(&self) -> &'m NodeMap<'m> {
        self.map
    }

    /// The path from a node to the memory of a node.
    pub fn figures(&self, initiator: NodeId, target: NodeId) -> Figures {
        let (initiator, target) = (self.map.whole(initiator), self.map.whole(target));
        Figures::of(|metric| self.value(metric, initiator, target))
    }

    /// The memory side caches of all nodes, in table order. The nodes are those of the SRAT, also
    /// when they are split.
    pub fn caches(&self) -> impl Iterator<Item = (NodeId, SideCache)> + '_ {
        let structures = self.hmat.iter().flat_map(Hmat::structures);
        structures.filter_map(|structure| match structure.body {
            Body::Cache(cache) => Some((self.map.node_of_pxm(cache.memory)?, cache)),
            _ => None,
        })
    }

    /// The abstract distance of a node's memory, as Linux 6.12 has it: lower is faster,
    /// [`DRAM_DISTANCE`] is ordinary memory, and also what nothing is known of.
    pub fn abstract_distance(&self, node: NodeId) -> u32 {
        self.distances.get(node.index()).copied().unwrap_or(DRAM_DISTANCE)
    }

    /// The memory tier of a node: [`Access::abstract_distance`] in chunks of 128. Ordinary memory
    /// is in tier 4; lower ones are faster.
    pub fn tier(&self, node: NodeId) -> u32 {
        self.abstract_distance(node) >> CHUNK_SHIFT
    }

    /// How many allocations in a row a node gets by default when they are interleaved by weight:
    /// 1 to [`WEIGHTINESS`].
    pub fn weight(&self, node: NodeId) -> u8 {
        self.weights.get(node.index()).copied().unwrap_or(1)
    }

    /// [`Access::weight`] by node, as far as it is not 1.
    pub fn weights(&self) -> &'m [u8] {
        self.weights
    }

    /// One figure between nodes of the SRAT.
    fn value(&self, metric: Metric, initiator: NodeId, target: NodeId) -> Option<u32> {
        let row = self.nodes.get(initiator.index())?.row(metric)?;
        let column = self.nodes.get(target.index())?.column(metric)?;
        self.matrices.of(metric)?.value(row, column)?.known()
    }
}

impl Figures {
    /// Asks for each figure.
    fn of(figure: impl Fn(Metric) -> Option<u32>) -> Figures {
        Figures {
            read_latency: figure(Metric::ReadLatency),
            write_latency: figure(Metric::WriteLatency),
            read_bandwidth: figure(Metric::ReadBandwidth),
            write_bandwidth: figure(Metric::WriteBandwidth),
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Figures::default()
    }

    /// The lower of the two bandwidths, in MB/s; `None` unless both are known.
    pub fn bandwidth(&self) -> Option<u32> {
        Some(self.read_bandwidth?.min(self.write_bandwidth?))
    }
}

#[cfg(test)]
pub(crate) mod by_hand;
#[cfg(test)]
mod tests;
