//! Interleaving by weight: a node serves as many requests in a row as its weight says.
#![forbid(unsafe_code)]

use core::cell::Cell;

use super::Interleave;
use crate::ids::{NodeId, NodeSet};

/// A weighted interleave policy: a set of nodes, their weights, whose turn it is and for how long.
/// It belongs to one task.
#[derive(Debug)]
pub struct WeightedInterleave<'a> {
    turns: Interleave,
    weights: &'a [u8],
    now: Cell<Option<NodeId>>,
    left: Cell<u8>,
}

impl<'a> WeightedInterleave<'a> {
    /// Turns among `nodes`, beginning with the lowest. `weights` is by node id; a node behind its
    /// end, or with a weight of 0, has 1. What firmware suggests:
    /// [`Access::weights`](crate::topology::access::Access::weights).
    pub fn new(nodes: NodeSet, weights: &'a [u8]) -> WeightedInterleave<'a> {
        let turns = Interleave::new(nodes);
        WeightedInterleave { turns, weights, now: Cell::new(None), left: Cell::new(0) }
    }

    /// The nodes that take turns.
    pub fn nodes(&self) -> &NodeSet {
        self.turns.nodes()
    }

    /// Whose turn it is, and moves on. Every allocation takes one step, whether it succeeds or not.
    pub fn step(&self) -> Option<NodeId> {
        if self.left.get() == 0 {
            let next = self.turns.step()?;
            let weight = self.weights.get(next.index()).copied().unwrap_or(1);
            self.left.set(weight.max(1));
            self.now.set(Some(next));
        }
        self.left.set(self.left.get() - 1);
        self.now.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn each_node_has_as_many_turns_in_a_row_as_it_weighs() {
        let nodes = [0, 2, 3, 9].map(NodeId).into_iter().collect();
        let turns = WeightedInterleave::new(nodes, &[2, 7, 3, 0]);
        let seen: Vec<u16> = (0..9).map(|_| turns.step().unwrap().0).collect();
        assert_eq!(seen, [0, 0, 2, 2, 2, 3, 9, 0, 0]);
        assert_eq!(WeightedInterleave::new(NodeSet::EMPTY, &[1]).step(), None);
    }
}
