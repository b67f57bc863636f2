//! A CPU's own block: what the order-0 path touches, on the CPU's node.
#![forbid(unsafe_code)]

use crate::ids::{CpuId, NodeId};
use crate::pageset::{Pageset, PagesetCell};
use crate::platform::CpuToken;
use crate::sync::{AtomicBool, Ordering};
use crate::units::{Order, PhysRange};
use crate::zone::ZoneKind;

use super::nodes::{NO_ZONE, NodeEntry};
use super::request_word::RequestWord;
use super::slot::Slot;
use super::watermark::Mark;
use super::ways::{self, Ways};
use super::{FrameBlock, Request};

/// What one CPU has of the memory subsystem. The CPU's token points to it.
pub(super) struct CpuBlock<'m> {
    /// The pagesets by way of a request.
    pub(super) ways: Ways<'m>,
    /// The pagesets by zone, in the order of the zone table.
    pub(super) pagesets: &'m [PagesetCell<'m>],
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
    /// Serves a request for a single frame from the pageset of the zone where it begins: a hit.
    /// `None`: it is for the search to decide.
    #[inline]
    pub(super) fn take_parked(&self, request: &Request<'_>) -> Option<FrameBlock<'m>> {
        let pageset = self.ways.get(request.parked_way())?.get();
        let word = pageset.pop()?;
        pageset.served().add(1);
        Some(FrameBlock::new(pageset.zone(), word))
    }

    /// Serves a request from the zone where it begins, above the low mark: a hit. `None`: it is for
    /// the search to decide.
    pub(super) fn take_first(
        &self,
        token: &CpuToken,
        request: &Request<'_>,
    ) -> Option<FrameBlock<'m>> {
        let (order, limit) = (request.order(), request.zone_limit());
        let pageset = self.ways.get(request.way())?.get();
        if let Some(word) = pageset.kept().take(order) {
            pageset.served().add(1);
            return Some(FrameBlock::new(pageset.zone(), word));
        }
        let slot = self.slots.get(usize::from(pageset.index()))?;
        if pageset.is_boot() {
            return None;
        }
        let block = match order == Order::ZERO {
            true => slot.take(token, order, Mark::Low, limit).ok()?,
            false => slot.take_block(token, order, Mark::Low, limit).ok()?,
        };
        slot.counters.served.add(1);
        Some(block)
    }

    /// Puts a single frame into the pageset of its zone, if there is room; false changes nothing.
    #[inline]
    pub(super) fn park(&self, block: &FrameBlock<'_>) -> bool {
        let Some(cell) = self.pagesets.get(usize::from(block.word().zone())) else { return false };
        let pageset = cell.get();
        core::ptr::addr_eq(pageset.zone(), block.owner()) && pageset.push(block.word()).is_ok()
    }

    /// Puts a pageset in the place of a zone's boot pageset; false when another one is there.
    pub(super) fn install(&self, index: u16, pageset: &'m Pageset<'m>) -> bool {
        let cell = self.pagesets.get(usize::from(index));
        if !cell.is_some_and(|cell| cell.install(pageset)) {
            return false;
        }
        ways::install(&self.ways, self.node, self.nodes, index, pageset);
        true
    }

    /// The slot for a zone of a node.
    pub(super) fn slot(&self, node: NodeId, kind: ZoneKind) -> Option<&'m Slot<'m>> {
        let index = *self.zones_of.get(node.index())?.get(kind.index())?;
        if index == NO_ZONE {
            return None;
        }
        self.slots.get(usize::from(index))
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
