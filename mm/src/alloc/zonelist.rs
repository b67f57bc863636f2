//! The order in which nodes are tried: by distance, equals dealt out in turn.
//!
//! Distances and the set of nodes with memory come in; for every possible node a list comes out:
//! itself, then all nodes with memory. Zones within a node go from high to low, so the list of
//! nodes is all there is to a zonelist (reference: zones-and-zonelists, section 2, at boot: nodes
//! with CPUs have no penalty).
#![forbid(unsafe_code)]

use crate::ids::{MAX_NODES, NodeId, NodeSet};

/// Makes the lists of one machine, which depend on each other: call it for all possible nodes,
/// ascending.
pub struct FallbackOrders<'a, D: Fn(NodeId, NodeId) -> u8> {
    distance: D,
    with_memory: &'a NodeSet,
    /// How often a node was the first of its distance in a list: that is what deals equals out.
    load: [u16; MAX_NODES],
}

impl<'a, D: Fn(NodeId, NodeId) -> u8> FallbackOrders<'a, D> {
    /// For nodes at `distance(from, to)`.
    pub fn new(with_memory: &'a NodeSet, distance: D) -> Self {
        FallbackOrders { distance, with_memory, load: [0; MAX_NODES] }
    }

    /// How many nodes are in the list of `node`.
    pub fn len(&self, node: NodeId) -> usize {
        self.with_memory.len() + usize::from(!self.with_memory.contains(node))
    }

    /// Calls `add` for each node of the list of `node`, in order: itself, memory or not, then
    /// the nearest of the rest, each time. Among equally near ones those above `node` come
    /// first, then those that were first less often, then the lowest id.
    pub fn list(&mut self, node: NodeId, mut add: impl FnMut(NodeId)) {
        add(node);
        let mut left = [0_u64; MAX_NODES];
        let others = self.with_memory.iter().filter(|&other| other != node);
        let count = left.iter_mut().zip(others).map(|(slot, other)| *slot = self.key(node, other));
        let count = count.count();
        let left = left.get_mut(..count).unwrap_or_default();
        // A node's load changes when it is its turn, so the order of the rest stands.
        left.sort_unstable();
        let mut last = node;
        for next in left.iter().map(|&key| NodeId(key as u16)) {
            if (self.distance)(node, next) != (self.distance)(node, last)
                && let Some(load) = self.load.get_mut(next.index())
            {
                *load = load.saturating_add(1);
            }
            add(next);
            last = next;
        }
    }

    /// What nodes are sorted by, the most important in the highest bits, and the id in the lowest
    /// 16. One number, so that sorting asks for no distance.
    fn key(&self, node: NodeId, other: NodeId) -> u64 {
        let distance = u64::from((self.distance)(node, other)) + u64::from(other < node);
        let load = self.load.get(other.index()).copied().unwrap_or_default();
        distance << 32 | u64::from(load) << 16 | u64::from(other.0)
    }
}

#[cfg(test)]
#[path = "zonelist_tests.rs"]
mod tests;
