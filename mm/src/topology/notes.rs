//! What a reader of a node map will want to know: facts about its nodes, as findings.

use super::NodeMap;
use crate::finding::{Finding, Findings, Kind};
use crate::ids::{NodeId, NodeSet};

/// Describes a map that comes from an SRAT.
pub fn describe(map: &NodeMap<'_>, findings: &mut dyn Findings) {
    let mut note = |kind| findings.add(Finding::new(kind));
    let cpus_on: NodeSet = map.with_cpus().iter().map(|node| map.whole(node)).collect();
    for node in map.online().iter() {
        if !map.with_memory().contains(node) {
            note(Kind::NodeMemoryless { node });
        }
        if !cpus_on.contains(map.whole(node)) {
            note(Kind::NodeCpuless { node });
        }
    }
    for node in interleaved(map).iter() {
        note(Kind::NodeInterleaved { node });
    }
    for node in map.possible().iter() {
        if let Some(pxm) = map.pxm(node).filter(|pxm| pxm.0 != u32::from(node.0)) {
            note(Kind::PxmDiffersFromNode { pxm, node });
        }
    }
}

/// Nodes with another node's memory between their lowest and their highest byte.
fn interleaved(map: &NodeMap<'_>) -> NodeSet {
    let (mut seen, mut interleaved) = (NodeSet::EMPTY, NodeSet::EMPTY);
    let mut before: Option<NodeId> = None;
    for node in map.ranges().iter().map(|range| range.node) {
        let new = seen.insert(node);
        if !new && before != Some(node) {
            interleaved.insert(node);
        }
        before = Some(node);
    }
    interleaved
}
