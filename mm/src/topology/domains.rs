//! Proximity domains and the node ids that they get: the lowest free one at first sight
//! (reference: numa-discovery, section 3).

use crate::ids::{MAX_NODES, NodeId, ProximityDomain};

/// One slot of the table of domains. Slot `n` has the domain of node `n` and, apart from that,
/// the `n`th node in the order of their domains, for searching.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Domain {
    /// The domain of the node that this slot is for.
    pub pxm: ProximityDomain,
    /// Place `n` of the index by domain.
    by_pxm: NodeId,
}

impl Domain {
    /// Domain 0, to fill storage with.
    pub const NONE: Domain = Domain { pxm: ProximityDomain(0), by_pxm: NodeId(0) };
}

/// Hands out node ids.
pub struct Domains<'m> {
    slots: &'m mut [Domain],
    count: usize,
}

impl<'m> Domains<'m> {
    /// No domain yet; room for as many as there are slots, [`MAX_NODES`] at most.
    pub fn new(slots: &'m mut [Domain]) -> Domains<'m> {
        let room = slots.len().min(MAX_NODES);
        Domains { slots: slots.get_mut(..room).unwrap_or_default(), count: 0 }
    }

    /// The node of a domain, which gets the lowest free id when it is new; `None` when there is
    /// no id left.
    pub fn node(&mut self, pxm: ProximityDomain) -> Option<NodeId> {
        let place = match search(self.named(), pxm) {
            Ok(node) => return Some(node),
            Err(place) => place,
        };
        let node = NodeId(self.count as u16);
        self.slots.get_mut(self.count)?.pxm = pxm;
        self.count += 1;
        // Make room in the index: the new id goes in front of all with a higher domain.
        let mut moved = node;
        for slot in self.slots.get_mut(place..self.count)? {
            core::mem::swap(&mut slot.by_pxm, &mut moved);
        }
        Some(node)
    }

    /// The domains that have an id, by node.
    pub fn named(&self) -> &[Domain] {
        self.slots.get(..self.count).unwrap_or_default()
    }

    /// The domains that have an id, by node, for good.
    pub fn into_named(self) -> &'m [Domain] {
        self.slots.get(..self.count).unwrap_or_default()
    }
}

/// The node of a domain, if it has one.
pub fn find(named: &[Domain], pxm: ProximityDomain) -> Option<NodeId> {
    search(named, pxm).ok()
}

/// The node of a domain, or its place in the index.
fn search(named: &[Domain], pxm: ProximityDomain) -> Result<NodeId, usize> {
    let pxm_of = |node: NodeId| named.get(node.index()).map(|domain| domain.pxm);
    named
        .binary_search_by_key(&Some(pxm), |slot| pxm_of(slot.by_pxm))
        .map(|place| named.get(place).map(|slot| slot.by_pxm).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn ids_follow_first_sight_and_are_found_again() {
        let mut slots = [Domain::NONE; 8];
        let mut domains = Domains::new(&mut slots);
        let sight = [7, 3, u32::MAX, 3, 0, 7, 5];
        let ids: Vec<_> = sight.iter().map(|&pxm| domains.node(ProximityDomain(pxm))).collect();
        assert_eq!(ids, [0, 1, 2, 1, 3, 0, 4].map(|id| Some(NodeId(id))));
        assert_eq!(find(domains.named(), ProximityDomain(u32::MAX)), Some(NodeId(2)));
        assert_eq!(find(domains.named(), ProximityDomain(4)), None);
    }

    #[test]
    fn no_id_is_handed_out_beyond_the_room() {
        let mut slots = [Domain::NONE; 2];
        let mut domains = Domains::new(&mut slots);
        let ids: Vec<_> = (0..4).map(|pxm| domains.node(ProximityDomain(9 - pxm))).collect();
        assert_eq!(ids, [Some(NodeId(0)), Some(NodeId(1)), None, None]);
        assert_eq!(domains.named().len(), 2);
    }
}
