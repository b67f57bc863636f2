//! From a request to the zone that most likely serves it, by one load.
//!
//! A request carries the number of its way ([`Request::way`]). Each CPU has a table of pagesets by
//! that number: the one of the zone where the search for such a request begins. Where that zone is not the one that the request means to begin at, as for a node without
//! memory, the boot pageset stays in the table: it is empty, so the search decides.
//!
//! ```text
//! 0..3   near, by zone limit        6 + 3 * node ..   that node's own, by zone limit
//! 3..6   near, this node only
//! ```
//!
//! [`Request::way`]: super::Request::way
#![forbid(unsafe_code)]

use crate::ids::{MAX_NODES, NodeId};
use crate::pageset::{Pageset, PagesetCell};
use crate::zone::{RawMemory, ZoneKind};

use super::Policy;
use super::nodes::{NO_ZONE, NodeEntry};

/// The way of requests that always search.
pub(super) const SEARCH: u16 = u16::MAX;

const KINDS: usize = ZoneKind::ALL.len();
const _: () = assert!(NEAR + KINDS * MAX_NODES < SEARCH as usize);
/// Ways that begin near the CPU.
pub(super) const NEAR: usize = 2 * KINDS;

/// The way of a request for frames that need not be zeroed.
pub(super) const fn way(policy: &Policy<'_>, limit: ZoneKind, this_node: bool) -> u16 {
    let limit = limit.index() as u16;
    match policy {
        Policy::Local => limit + if this_node { KINDS as u16 } else { 0 },
        // With one node it makes no difference.
        Policy::Preferred(_) if !cfg!(feature = "numa") => limit,
        Policy::Preferred(node) if node.index() >= MAX_NODES => SEARCH,
        // Its ways are of its own zones only.
        Policy::Preferred(node) => (NEAR + KINDS * node.index()) as u16 + limit,
        _ => SEARCH,
    }
}

/// How many ways there are with nodes below `nodes`.
pub(super) const fn count(nodes: usize) -> usize {
    if cfg!(feature = "numa") { NEAR + KINDS * nodes } else { NEAR }
}

/// One CPU's pagesets by the numbers of ways.
#[cfg(feature = "numa")]
pub(super) type Ways<'m> = &'m [PagesetCell<'m>];
/// One CPU's pagesets by the numbers of ways: with one node, part of its block.
#[cfg(not(feature = "numa"))]
pub(super) type Ways<'m> = [PagesetCell<'m>; NEAR];

/// A table of `count` ways, all of them with the boot pageset. Of `memory` it takes what as many
/// cells need; with one node, nothing.
#[cfg(feature = "numa")]
pub(super) fn make<'m>(
    count: usize,
    memory: &mut RawMemory<'m>,
    boot: &'m Pageset<'m>,
) -> Option<Ways<'m>> {
    memory.slice(count as u64, |_| Some(PagesetCell::new(boot))).map(|ways| &*ways)
}

/// The same, for one node.
#[cfg(not(feature = "numa"))]
pub(super) fn make<'m>(_: usize, _: &mut RawMemory<'m>, boot: &'m Pageset<'m>) -> Option<Ways<'m>> {
    Some(core::array::from_fn(|_| PagesetCell::new(boot)))
}

/// Puts the pageset of a zone in its ways, for a CPU of node `near`.
pub(super) fn install<'m>(
    ways: &Ways<'m>,
    near: NodeId,
    nodes: &[NodeEntry<'_>],
    zone: u16,
    pageset: &'m Pageset<'m>,
) {
    for (at, cell) in ways.iter().enumerate() {
        if begins_at(at, near, nodes) == Some(zone) {
            cell.install(pageset);
        }
    }
}

/// The zone where requests of a way begin: what the search would find first.
fn begins_at(way: usize, near: NodeId, nodes: &[NodeEntry<'_>]) -> Option<u16> {
    let limit = way % KINDS;
    let own = |node: NodeId| {
        let zones = nodes.get(node.index())?.zones;
        zones[..=limit].iter().rev().copied().find(|&zone| zone != NO_ZONE)
    };
    match way / KINDS {
        0 => nodes.get(near.index())?.order.iter().find_map(|&node| own(node)),
        1 => own(near),
        group => own(NodeId((group - NEAR / KINDS) as u16)),
    }
}
