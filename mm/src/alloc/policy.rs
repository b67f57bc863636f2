//! On which nodes a request looks.
#![forbid(unsafe_code)]

use core::cell::Cell;

use super::WeightedInterleave;
use crate::ids::{NodeId, NodeSet};
use crate::topology::NodeMap;

/// On which nodes a request looks, and where it begins.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// The running CPU's node first, then by distance.
    Local,
    /// This node first, then by distance from it. A node that does not exist: as `Local`.
    Preferred(NodeId),
    /// These nodes, nearest to the running CPU first; when none of them can serve, as `Local`.
    PreferredMany(&'a NodeSet),
    /// These nodes only, nearest to the running CPU first.
    Bind(&'a NodeSet),
    /// The next node in turn first, then by distance from it.
    Interleave(&'a Interleave),
    /// As [`Policy::Interleave`], each node for as many requests in a row as its weight says.
    WeightedInterleave(&'a WeightedInterleave<'a>),
}

impl Policy<'_> {
    /// Linux's name, as in `numactl` and `numa_maps`.
    pub const fn name(&self) -> &'static str {
        match self {
            Policy::Local => "local",
            Policy::Preferred(_) => "prefer",
            Policy::PreferredMany(_) => "prefer (many)",
            Policy::Bind(_) => "bind",
            Policy::Interleave(_) => "interleave",
            Policy::WeightedInterleave(_) => "weighted interleave",
        }
    }
}

/// An interleave policy: a set of nodes and whose turn it is. It belongs to one task.
#[derive(Debug)]
pub struct Interleave {
    nodes: NodeSet,
    next: Cell<Option<NodeId>>,
}

impl Interleave {
    /// Turns among `nodes`, beginning with the lowest.
    pub fn new(nodes: NodeSet) -> Interleave {
        Interleave { next: Cell::new(nodes.first()), nodes }
    }

    /// The nodes that take turns.
    pub fn nodes(&self) -> &NodeSet {
        &self.nodes
    }

    /// Whose turn is next; `None` when the set is empty.
    pub fn peek(&self) -> Option<NodeId> {
        self.next.get()
    }

    /// Whose turn it is, and moves on: ascending, then from the lowest again. Every allocation
    /// takes one step, whether it succeeds or not.
    pub fn step(&self) -> Option<NodeId> {
        let turn = self.next.get()?;
        self.next.set(self.nodes.after(turn).or(self.nodes.first()));
        Some(turn)
    }
}

/// A node takes part in the boot interleaving from this much memory on: 16 MiB, in frames.
pub const INTERLEAVE_MIN_FRAMES: u64 = (16 << 20) >> crate::units::PAGE_SHIFT;

/// The nodes over which boot interleaves: those with 16 MiB of memory or more. When there is none,
/// the node with the most (reference: large-system-hash, section 4).
pub fn interleave_nodes(map: &NodeMap<'_>) -> NodeSet {
    let present = |node| map.node_ranges(node).map(|range| range.len()).sum::<u64>();
    let large: NodeSet =
        map.with_memory().iter().filter(|&node| present(node) >= INTERLEAVE_MIN_FRAMES).collect();
    if !large.is_empty() {
        return large;
    }
    let mut largest = None;
    for node in map.with_memory().iter() {
        let frames = present(node);
        if largest.is_none_or(|(_, most)| frames > most) {
            largest = Some((node, frames));
        }
    }
    largest.map(|(node, _)| node).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn interleaving_begins_with_the_lowest_node_and_goes_round() {
        let nodes: NodeSet = [5, 1, 64].into_iter().map(NodeId).collect();
        let turns = Interleave::new(nodes);
        assert_eq!(turns.peek(), Some(NodeId(1)));
        let seen: Vec<u16> = (0..7).map(|_| turns.step().unwrap().0).collect();
        assert_eq!(seen, [1, 5, 64, 1, 5, 64, 1]);
        assert_eq!(Interleave::new(NodeSet::EMPTY).step(), None);
    }
}
