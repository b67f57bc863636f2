//! Who hears of the zones that a search passes by.
#![forbid(unsafe_code)]

use core::fmt;

use crate::ids::NodeId;
use crate::zone::ZoneId;

/// Why a node or a zone did not serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The node is not among those that the request allows.
    OutsideSet {
        /// The node.
        node: NodeId,
    },
    /// The node has no frames in the zones that the request allows.
    NoZone {
        /// The node.
        node: NodeId,
    },
    /// The zone would be left with too few free frames.
    Watermark {
        /// The zone.
        zone: ZoneId,
        /// Its free frames.
        free: u64,
        /// What has to be left, lowmem reserve included, in frames.
        keep: u64,
    },
    /// The zone has enough free frames, but no free block as large as that.
    NoBlock {
        /// The zone.
        zone: ZoneId,
        /// Its free frames.
        free: u64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OutsideSet { node } => write!(f, "Node {node} is outside the set"),
            Refusal::NoZone { node } => write!(f, "Node {node} has no such memory"),
            Refusal::Watermark { zone, free, keep } => {
                write!(f, "{zone} keeps {keep} of {free} free frames")
            }
            Refusal::NoBlock { zone, free } => {
                write!(f, "{zone} has {free} free frames in smaller blocks")
            }
        }
    }
}

/// Hears of refusals, in the order of the search.
pub(super) trait Trail {
    /// One that did not serve. `refusal` is worked out only where somebody listens.
    fn refused(&mut self, refusal: impl FnOnce() -> Refusal);
}

/// Nobody listens.
impl Trail for () {
    fn refused(&mut self, _: impl FnOnce() -> Refusal) {}
}
