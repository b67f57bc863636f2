//! A CPU's own block: what the order-0 path touches, on the CPU's node.
#![forbid(unsafe_code)]

use crate::ids::{CpuId, NodeId};
use crate::sync::{AtomicBool, Ordering};
use crate::units::PhysRange;
use crate::zone::ZoneKind;

use super::nodes::{NO_ZONE, NodeEntry};
use super::request_word::RequestWord;
use super::slot::Slot;

/// What one CPU has of the memory subsystem. The CPU's token points to it.
pub(super) struct CpuBlock<'m> {
    pub(super) cpu: CpuId,
    /// The CPU's node, which may have no memory.
    pub(super) node: NodeId,
    /// Whether the CPU runs, and so must be asked rather than passed over.
    pub(super) online: AtomicBool,
    pub(super) requests: RequestWord,
    /// One for each zone, in the order of the zone table.
    pub(super) slots: &'m [Slot<'m>],
    /// For each node the indices of its zones: a copy, so that no other node's memory is read.
    pub(super) zones_of: &'m [[u16; 3]],
    /// All nodes; read only when the first choice fails.
    pub(super) nodes: &'m [NodeEntry<'m>],
    /// Where this block and what it points to lies.
    pub(super) memory: PhysRange,
}

impl<'m> CpuBlock<'m> {
    /// The slot for a zone of a node, with its index.
    pub(super) fn slot(&self, node: NodeId, kind: ZoneKind) -> Option<(u16, &'m Slot<'m>)> {
        let index = *self.zones_of.get(node.index())?.get(kind.index())?;
        if index == NO_ZONE {
            return None;
        }
        self.slots.get(usize::from(index)).map(|slot| (index, slot))
    }

    /// Whether a node has a fallback order.
    pub(super) fn exists(&self, node: NodeId) -> bool {
        node.index() < self.zones_of.len()
    }

    /// `node` and then the rest of its fallback order.
    pub(super) fn order_from(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'m> {
        let nodes = self.nodes;
        (0..).map_while(move |at| match at {
            0 => Some(node),
            _ => nodes.get(node.index())?.order.get(at).copied(),
        })
    }

    /// Whether the CPU runs.
    pub(super) fn is_online(&self) -> bool {
        self.online.load(Ordering::Acquire)
    }
}
