//! Why here? A record of one allocation: who was asked, who refused and why, and what it cost in
//! distance.
//!
//! In: an ordinary request ([`MemorySubsystem::alloc_explained`]). Out: what
//! [`MemorySubsystem::alloc`] gives, and a [`Why`] of fixed size beside it.
#![forbid(unsafe_code)]

use core::fmt;

use crate::ids::NodeId;
use crate::platform::CpuPlatform;
use crate::units::Order;
use crate::zone::ZoneId;

use super::trail::{Refusal, Trail};
use super::{AllocError, FrameBlock, MemorySubsystem, Request};

/// Refusals that a record has room for; more are only counted.
pub const REFUSALS: usize = 24;

/// Why a block came from where it did, or from nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Why {
    /// What was asked for.
    pub order: Order,
    /// The policy's name, as Linux has it.
    pub policy: &'static str,
    /// The node of the CPU that asked.
    pub cpu_node: NodeId,
    /// The node where the search began: whom the policy named.
    pub asked: NodeId,
    /// The distance from the CPU's node to that.
    pub asked_distance: u8,
    /// Who served, and its distance from the CPU's node; `None`: nobody.
    pub served: Option<(ZoneId, u8)>,
    refusals: [Option<Refusal>; REFUSALS],
    more: u32,
}

impl Why {
    /// Who was passed by, in order. A zone comes up once for each pass: above its low mark, above
    /// its min mark (or the reserve below that), after all pagesets were drained.
    pub fn refusals(&self) -> impl Iterator<Item = Refusal> + '_ {
        self.refusals.iter().copied().flatten()
    }

    /// How many more refusals there were than [`REFUSALS`].
    pub fn more(&self) -> u32 {
        self.more
    }

    /// Whether a node that the policy did not name served.
    pub fn is_fallback(&self) -> bool {
        self.served.is_some_and(|(zone, _)| zone.node != self.asked)
    }
}

impl Trail for Why {
    fn refused(&mut self, refusal: impl FnOnce() -> Refusal) {
        match self.refusals.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(refusal()),
            None => self.more = self.more.saturating_add(1),
        }
    }
}

/// One line: `order 0 near Node 1: preferred Node 1 (10); Node 1 has no such memory; served by Node
/// 0 DMA32 (20)`, distances in brackets.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Why { policy, cpu_node, asked, asked_distance, .. } = self;
        write!(f, "order {} near Node {cpu_node}: ", self.order.get())?;
        write!(f, "{policy} Node {asked} ({asked_distance}); ")?;
        for refusal in self.refusals() {
            write!(f, "{refusal}; ")?;
        }
        if self.more > 0 {
            write!(f, "{} more refused; ", self.more)?;
        }
        match self.served {
            Some((zone, distance)) => write!(f, "served by {zone} ({distance})"),
            None => f.write_str("served by nobody"),
        }
    }
}

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// As [`alloc`](Self::alloc), with the reasons.
    pub fn alloc_explained(
        &self,
        request: &Request<'_>,
    ) -> (Result<FrameBlock<'m>, AllocError>, Why) {
        let cpu = self.pin();
        let (plan, cpu_node) = (super::allocate::plan(cpu.block(), request), cpu.node());
        let mut why = Why {
            order: request.order(),
            policy: request.policy().name(),
            cpu_node,
            asked: plan.start,
            asked_distance: self.map.distance(cpu_node, plan.start),
            served: None,
            refusals: [None; REFUSALS],
            more: 0,
        };
        let result = self.alloc_by(cpu, request, &plan, &mut why);
        let distance = |zone: ZoneId| (zone, self.map.distance(cpu_node, zone.node));
        why.served = result.as_ref().ok().map(|block| distance(block.zone()));
        (result, why)
    }
}
