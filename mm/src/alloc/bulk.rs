//! Many single frames of one node at once.
#![forbid(unsafe_code)]

use crate::ids::NodeId;
use crate::platform::CpuPlatform;
use crate::units::Order;
use crate::zone::ZoneKind;

use super::allocate::count as count_served;
use super::watermark::Mark;
use super::{FrameBlock, MemorySubsystem};

/// Frames that are taken under one token.
const CHUNK: usize = 64;

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Takes up to `count` single frames of `node`'s own zones and hands them to `into`, with no
    /// token held; says how many. They all come from the highest zone that keeps its low mark and
    /// `count` frames more, until it would go below the low mark; 0 when no zone can spare as many
    /// (reference: large-system-hash, section 4, the sub-requests). They count as `count` hits.
    pub fn alloc_bulk(
        &self,
        node: NodeId,
        count: usize,
        into: &mut dyn FnMut(FrameBlock<'m>),
    ) -> usize {
        let Some((preferred, serving)) = self.bulk_zones(node, count) else { return 0 };
        let mut taken = 0;
        while taken < count {
            let mut blocks = [const { None }; CHUNK];
            let cpu = self.pin();
            let block = cpu.block();
            let slots = (block.slot(node, preferred), block.slot(node, serving));
            let (Some(preferred), Some(slot)) = slots else { break };
            let mut got = 0;
            for place in blocks.iter_mut().take(count - taken) {
                *place = slot.take(cpu.token(), Order::ZERO, Mark::Low, ZoneKind::Normal).ok();
                if place.is_none() {
                    break;
                }
                got += 1;
            }
            count_served(slot, preferred, got as u64);
            drop(cpu);
            blocks.into_iter().flatten().for_each(&mut *into);
            taken += got;
            if got < CHUNK {
                break;
            }
        }
        taken
    }

    /// The node's highest zone, and the highest that can spare `count` frames.
    fn bulk_zones(&self, node: NodeId, count: usize) -> Option<(ZoneKind, ZoneKind)> {
        let cpu = self.pin();
        let block = cpu.block();
        let mark = Mark::LowAnd(count as u64);
        let mut kinds =
            ZoneKind::ALL.into_iter().rev().filter(|&kind| block.slot(node, kind).is_some());
        let can_spare = |&kind: &ZoneKind| {
            block.slot(node, kind).is_some_and(|slot| slot.may_take(1, mark, ZoneKind::Normal))
        };
        let preferred = kinds.next()?;
        let serving = core::iter::once(preferred).chain(kinds).find(can_spare)?;
        Some((preferred, serving))
    }
}
