//! The table of nodes: fallback order, and which zones a node has.
#![forbid(unsafe_code)]

use crate::ids::NodeId;

/// No zone of this kind on the node.
pub(super) const NO_ZONE: u16 = u16::MAX;

/// One possible node.
pub(super) struct NodeEntry<'m> {
    /// Itself, memory or not, then the nodes with memory.
    pub(super) order: &'m [NodeId],
    /// How many CPUs it has.
    pub(super) cpus: u16,
    /// The indices of its zones by kind, or [`NO_ZONE`].
    pub(super) zones: [u16; 3],
}
