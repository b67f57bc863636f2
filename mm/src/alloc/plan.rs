//! A policy as one request sees it.
#![forbid(unsafe_code)]

use crate::ids::{NodeId, NodeSet};

use super::{Policy, Request};

/// Where a request begins to look, and which nodes may serve it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan<'a> {
    /// Where the search begins. Exists.
    pub(super) start: NodeId,
    /// Which nodes may serve; `None`: all.
    within: Option<&'a NodeSet>,
    /// When those cannot, whether the others may, nearest to the CPU first.
    then_all: bool,
    /// Only the node where the search begins may serve.
    this_node: bool,
    /// The node whose turn it was.
    pub(super) turn: Option<NodeId>,
}

impl<'a> Plan<'a> {
    /// Resolves the policy of a request for a CPU of node `local`, with one step of an interleave
    /// cursor.
    pub(super) fn new(
        request: &Request<'a>,
        local: NodeId,
        exists: impl Fn(NodeId) -> bool,
    ) -> Plan<'a> {
        let (start, within, turn) = match request.policy() {
            Policy::Local => (local, None, None),
            Policy::Preferred(node) => (node, None, None),
            Policy::Bind(nodes) | Policy::PreferredMany(nodes) => (local, Some(nodes), None),
            Policy::Interleave(interleave) => {
                let turn = interleave.step();
                (turn.unwrap_or(local), None, turn)
            }
            Policy::WeightedInterleave(interleave) => {
                let turn = interleave.step();
                (turn.unwrap_or(local), None, turn)
            }
        };
        Plan {
            start: if exists(start) { start } else { local },
            within,
            then_all: matches!(request.policy(), Policy::PreferredMany(_)),
            this_node: request.only_this_node(),
            turn,
        }
    }

    /// Whether `node` may serve.
    pub(super) fn allows(&self, node: NodeId) -> bool {
        self.within.is_none_or(|nodes| nodes.contains(node))
            && (!self.this_node || node == self.start)
    }

    /// What to try when no allowed node can serve.
    pub(super) fn rest(&self) -> Option<Plan<'a>> {
        self.then_all.then_some(Plan { within: None, then_all: false, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::Interleave;
    use crate::units::Order;

    fn plan<'a>(policy: Policy<'a>, local: u16) -> Plan<'a> {
        Plan::new(&Request::new(Order::ZERO).on(policy), NodeId(local), |node| node.0 < 3)
    }

    #[test]
    fn a_node_that_does_not_exist_means_the_local_one() {
        assert_eq!(plan(Policy::Preferred(NodeId(2)), 1).start, NodeId(2));
        assert_eq!(plan(Policy::Preferred(NodeId(3)), 1).start, NodeId(1));
        let turns = Interleave::new(NodeSet::of(NodeId(900)));
        assert_eq!(plan(Policy::Interleave(&turns), 1).start, NodeId(1));
        let none = Interleave::new(NodeSet::EMPTY);
        assert_eq!(plan(Policy::Interleave(&none), 1).start, NodeId(1));
    }

    #[test]
    fn bind_allows_its_set_only_and_preferred_many_the_rest_later() {
        let set = NodeSet::of(NodeId(2));
        for (policy, has_rest) in [(Policy::Bind(&set), false), (Policy::PreferredMany(&set), true)]
        {
            let plan = plan(policy, 0);
            assert!(plan.allows(NodeId(2)) && !plan.allows(NodeId(0)));
            assert_eq!(plan.rest().is_some_and(|rest| rest.allows(NodeId(0))), has_rest);
            assert!(plan.rest().and_then(|rest| rest.rest()).is_none());
        }
    }

    #[test]
    fn this_node_only_is_the_node_that_the_policy_names() {
        let request = Request::new(Order::ZERO).on(Policy::Preferred(NodeId(2))).this_node();
        let plan = Plan::new(&request, NodeId(0), |_| true);
        assert!(plan.allows(NodeId(2)) && !plan.allows(NodeId(0)));
    }
}
