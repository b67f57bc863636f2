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
    /// Room for the keys of one list.
    keys: [Key; MAX_NODES],
}

impl<'a, D: Fn(NodeId, NodeId) -> u8> FallbackOrders<'a, D> {
    /// For nodes at `distance(from, to)`.
    pub fn new(with_memory: &'a NodeSet, distance: D) -> Self {
        let (load, keys) = ([0; MAX_NODES], [Key(0); MAX_NODES]);
        FallbackOrders { distance, with_memory, load, keys }
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
        let others = self.with_memory.iter().filter(|&other| other != node);
        let mut count = 0;
        for (slot, other) in self.keys.iter_mut().zip(others) {
            let load = self.load.get(other.index()).copied().unwrap_or_default();
            *slot = Key::new((self.distance)(node, other), other, node, load);
            count += 1;
        }
        let keys = self.keys.get_mut(..count).unwrap_or_default();
        // A node's load changes when it is its turn, so the order of the rest stands.
        keys.sort_unstable();
        let mut last = (self.distance)(node, node);
        for &key in keys.iter() {
            if key.distance() != last
                && let Some(load) = self.load.get_mut(key.node().index())
            {
                *load = load.saturating_add(1);
            }
            add(key.node());
            last = key.distance();
        }
    }
}

/// What nodes are sorted by, the most important in the highest bits, and what is asked of them
/// afterwards. One number, so that sorting asks for no distance.
///
/// | bits | |
/// |---|---|
/// | 40 and up | distance, one more for a node below |
/// | 24 to 39 | load |
/// | 8 to 23 | id |
/// | 0 to 7 | distance |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    /// The key of `other` in the list of `node`.
    fn new(distance: u8, other: NodeId, node: NodeId, load: u16) -> Key {
        let near = u64::from(distance) + u64::from(other < node);
        Key(near << 40 | u64::from(load) << 24 | u64::from(other.0) << 8 | u64::from(distance))
    }

    fn node(self) -> NodeId {
        NodeId((self.0 >> 8) as u16)
    }

    fn distance(self) -> u8 {
        self.0 as u8
    }
}

#[cfg(test)]
#[path = "zonelist_tests.rs"]
mod tests;
