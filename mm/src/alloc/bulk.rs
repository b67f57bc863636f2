//! Many single frames of one node at once.

use crate::ids::NodeId;
use crate::platform::Platform;
use crate::units::{Order, Pfn};
use crate::zone::ZoneKind;

use super::allocate::count as count_served;
use super::watermark::Mark;
use super::{FrameBlock, MemorySubsystem};

impl<'m, P: Platform> MemorySubsystem<'m, P> {
    /// Takes up to `count` single frames of `node`'s own zones, all from the highest one that
    /// keeps its low mark and `count` frames more, and hands them to `into`; says how many
    /// (reference: large-system-hash, section 4, the sub-requests). No other node serves, no mark
    /// below low is used; 0 when no zone can spare as many.
    pub fn alloc_bulk(
        &self,
        node: NodeId,
        count: usize,
        into: &mut dyn FnMut(FrameBlock<'m>),
    ) -> usize {
        const CHUNK: usize = 64;
        let mut taken = 0;
        while taken < count {
            let cpu = self.pin();
            let block = cpu.block();
            let own = |kind| block.slot(node, kind);
            let Some((_, preferred)) = ZoneKind::ALL.into_iter().rev().find_map(own) else { break };
            let mark = Mark::LowAnd((count - taken) as u64);
            let Some((index, slot)) = ZoneKind::ALL
                .into_iter()
                .rev()
                .filter_map(own)
                .find(|(_, slot)| slot.may_take(1, mark, ZoneKind::Normal))
            else {
                break;
            };
            let mut frames = [Pfn(0); CHUNK];
            let mut got = 0;
            for place in frames.iter_mut().take(count - taken) {
                match slot.take(cpu.token(), Order::ZERO, Mark::Low, ZoneKind::Normal) {
                    Ok(frame) => *place = frame,
                    Err(_) => break,
                }
                got += 1;
            }
            count_served(block, slot, preferred, got as u64);
            drop(cpu);
            if got == 0 {
                break;
            }
            taken += got;
            for &frame in &frames[..got] {
                into(FrameBlock::new(slot.zone(), index, frame, Order::ZERO));
            }
        }
        taken
    }
}
