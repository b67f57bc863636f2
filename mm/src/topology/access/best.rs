//! The initiators that reach a node's memory best.

use super::{Access, Figures, Metric};
use crate::ids::{NodeId, NodeSet};

/// Which initiators are looked at (Linux: access classes 0 and 1 of a node).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// All: nodes with CPUs and devices.
    Any,
    /// Nodes with CPUs.
    Cpus,
}

/// The best initiators of a node's memory, and how fast they reach it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Best {
    /// The initiators that are online; none when nothing is known.
    pub initiators: NodeSet,
    /// The figures that all of them share. Of a node with an attached initiator, that one's.
    pub figures: Figures,
}

impl Access<'_> {
    /// The best initiators of `target`: the one that the table says its memory is attached to; or
    /// else those with the lowest write latency, among these those with the lowest read latency,
    /// then the highest write bandwidth, then the highest read bandwidth. A figure that is known
    /// of none of them decides nothing; an initiator without it is not among the best when another
    /// has it.
    pub fn best(&self, target: NodeId, class: Class) -> Best {
        let target = self.map.whole(target);
        let allowed = |node| class == Class::Any || self.with_cpus.contains(node);
        let attached = self.nodes.get(target.index()).and_then(|node| node.attached());
        if let Some(initiator) = attached.filter(|&node| allowed(node)) {
            let figures = Figures::of(|metric| self.value(metric, initiator, target));
            return Best { initiators: self.parts_of(&NodeSet::of(initiator)), figures };
        }
        let mut left: NodeSet =
            self.matrices.initiators.iter().filter(|&node| allowed(node)).collect();
        let mut best = [None; Metric::COUNT];
        for metric in Metric::BY_PRIORITY {
            best[metric as usize] = self.narrow(&mut left, metric, target);
        }
        let figures = Figures::of(|metric| best[metric as usize]);
        let initiators = if figures.is_empty() { NodeSet::EMPTY } else { self.parts_of(&left) };
        Best { initiators, figures }
    }

    /// Leaves those of `left` that are best by one figure, and says which it is. All stay when it
    /// is not known of any.
    fn narrow(&self, left: &mut NodeSet, metric: Metric, target: NodeId) -> Option<u32> {
        self.nodes.get(target.index())?.column(metric)?;
        let values = || {
            let value = |node| Some((node, self.value(metric, node, target)?));
            left.iter().filter_map(value)
        };
        let better = |best: u32, value| if metric.is_better(value, best) { value } else { best };
        let best = values().map(|(_, value)| value).reduce(better)?;
        *left = values().filter(|&(_, value)| value == best).map(|(node, _)| node).collect();
        Some(best)
    }

    /// The nodes online that are, or are parts of, these nodes of the SRAT.
    fn parts_of(&self, whole: &NodeSet) -> NodeSet {
        let online = self.map.online().iter();
        online.filter(|&node| whole.contains(self.map.whole(node))).collect()
    }
}
