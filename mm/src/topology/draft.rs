//! A node map that is being made: everything but the distances, and all of it can change.

use super::distances::Distances;
use super::domains::Domain;
use super::fake::Parts;
use super::fill::Fill;
use super::records::{Block, CpuRecord};
use super::{Cpu, NodeMap, NodeRange, Source};
use crate::ids::NodeSet;

/// See [`NodeMap`], which has the same.
pub struct Draft<'m> {
    pub source: Source,
    pub possible: NodeSet,
    pub online: NodeSet,
    pub with_memory: NodeSet,
    pub with_cpus: NodeSet,
    pub initiators: NodeSet,
    pub ranges: Fill<'m, NodeRange>,
    pub cpus: &'m mut [Cpu],
    pub domains: &'m [Domain],
    /// How many of the domains the SRAT names; the others are CXL windows.
    pub named: usize,
    pub records: &'m mut [CpuRecord],
    pub blocks: &'m mut [Block],
    pub parts: Parts<'m>,
    pub uncovered: u64,
}

impl<'m> Draft<'m> {
    /// The domains that the SRAT names, of which a SLIT can know.
    pub fn named(&self) -> &'m [Domain] {
        self.domains.get(..self.named).unwrap_or_default()
    }

    /// The map, for good. `by_srat`: see [`NodeMap::is_by_srat`].
    pub fn finish(self, by_srat: bool, distances: Distances<'m>) -> NodeMap<'m> {
        NodeMap {
            source: self.source,
            possible: self.possible,
            online: self.online,
            with_memory: self.with_memory,
            with_cpus: self.with_cpus,
            initiators: self.initiators,
            ranges: self.ranges.finish(),
            cpus: self.cpus,
            distances,
            domains: self.domains,
            records: self.records,
            blocks: self.blocks,
            parts: self.parts,
            by_srat,
            uncovered: self.uncovered,
        }
    }
}
