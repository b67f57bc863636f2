//! Requests to blocks.

use crate::platform::{CpuPlatform, PhysMap};
use crate::zone::ZoneKind;

use super::cpu_block::CpuBlock;
use super::error::Refusals;
use super::plan::Plan;
use super::slot::{Refused, Slot};
use super::trail::{Refusal, Trail};
use super::watermark::Mark;
use super::{AllocError, FrameBlock, LocalCpu, MemorySubsystem, Request};

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Allocates without ever waiting: zones in the order of the policy, first above their low
    /// marks, then above their min marks. A zeroed block is zeroed with the token held.
    ///
    /// # Errors
    /// Says what was missing. Frames parked in pagesets of other CPUs, or of this CPU when more
    /// than one was asked for, are not looked at: [`alloc`](Self::alloc) does that.
    #[inline]
    pub fn try_alloc(
        &self,
        cpu: &LocalCpu<'m, P>,
        request: &Request<'_>,
    ) -> Result<FrameBlock<'m>, AllocError> {
        if let Some(block) = cpu.block().take_parked(request) {
            return Ok(block);
        }
        let mut error = AllocError::NoZone;
        self.try_alloc_slow(cpu, request, &mut error).ok_or(error)
    }

    /// The block comes in registers and the error apart, so that the fast path that this is part of
    /// keeps its result in registers, too.
    #[cold]
    #[inline(never)]
    fn try_alloc_slow(
        &self,
        cpu: &LocalCpu<'m, P>,
        request: &Request<'_>,
        error: &mut AllocError,
    ) -> Option<FrameBlock<'m>> {
        if let Some(block) = cpu.block().take_first(cpu.token(), request) {
            return Some(block);
        }
        self.try_search(cpu, request).map_err(|why| *error = why).ok()
    }

    #[cold]
    #[inline(never)]
    fn try_search(
        &self,
        cpu: &LocalCpu<'m, P>,
        request: &Request<'_>,
    ) -> Result<FrameBlock<'m>, AllocError> {
        if request.zero() && !core::ptr::eq(cpu.block().nodes, self.nodes) {
            // Zeroing goes through this subsystem's platform, the block would be another's.
            return Err(AllocError::ForeignToken);
        }
        let plan = plan(cpu.block(), request);
        let block = low_then_min(cpu, request, &plan, &mut ())?;
        if request.zero() {
            // SAFETY: just allocated from this subsystem, as checked above.
            unsafe { zero(&self.platform, &block) };
        }
        Ok(block)
    }

    /// Allocates. Before it gives up it returns what all CPUs have parked to the zones and tries
    /// once more, unless the request says [`no_retry`](Request::no_retry). Zeroes with the token
    /// released. Never called with a token held.
    ///
    /// # Errors
    /// Says what was missing.
    #[inline]
    pub fn alloc(&self, request: &Request<'_>) -> Result<FrameBlock<'m>, AllocError> {
        let cpu = self.pin();
        if !cpu.block().requests.is_open()
            && let Some(block) = cpu.block().take_parked(request)
        {
            return Ok(block);
        }
        self.alloc_slow(cpu, request)
    }

    #[cold]
    #[inline(never)]
    fn alloc_slow(
        &self,
        cpu: LocalCpu<'m, P>,
        request: &Request<'_>,
    ) -> Result<FrameBlock<'m>, AllocError> {
        self.serve_requests(&cpu);
        if let Some(block) = cpu.block().take_first(cpu.token(), request) {
            return Ok(block);
        }
        let plan = plan(cpu.block(), request);
        self.alloc_by(cpu, request, &plan, &mut ())
    }

    /// Allocates by a plan, and tells `trail` who refused.
    pub(super) fn alloc_by(
        &self,
        cpu: LocalCpu<'m, P>,
        request: &Request<'_>,
        plan: &Plan<'_>,
        trail: &mut impl Trail,
    ) -> Result<FrameBlock<'m>, AllocError> {
        self.serve_requests(&cpu);
        let mut result = low_then_min(&cpu, request, plan, trail);
        drop(cpu);
        if result.is_err() && !request.fails_at_once() {
            self.drain_all();
            let last = plan.rest().unwrap_or(*plan);
            result = search(&self.pin(), request, &last, Mark::Min, trail)
                .map_err(|refusals| refusals.error(request.order()));
        }
        let block = result?;
        if request.zero() {
            // SAFETY: just allocated from this subsystem.
            unsafe { zero(&self.platform, &block) };
        }
        Ok(block)
    }
}

pub(super) fn plan<'a>(block: &CpuBlock<'_>, request: &Request<'a>) -> Plan<'a> {
    Plan::new(request, block.node, |node| block.exists(node))
}

/// Above the low marks, then above the min marks; first on the nodes of the plan, then, if it says
/// so, on the others.
fn low_then_min<'m, P: CpuPlatform>(
    cpu: &LocalCpu<'m, P>,
    request: &Request<'_>,
    plan: &Plan<'_>,
    trail: &mut impl Trail,
) -> Result<FrameBlock<'m>, AllocError> {
    let min = if request.may_use_reserve() { Mark::Reserve } else { Mark::Min };
    let mut plan = *plan;
    loop {
        let found = search(cpu, request, &plan, Mark::Low, trail)
            .or_else(|_| search(cpu, request, &plan, min, trail));
        match (found, plan.rest()) {
            (Ok(block), _) => return Ok(block),
            (Err(_), Some(rest)) => plan = rest,
            (Err(refusals), None) => return Err(refusals.error(request.order())),
        }
    }
}

/// Tries the zones in order: nodes by distance, within a node from high to low.
fn search<'m, P: CpuPlatform>(
    cpu: &LocalCpu<'m, P>,
    request: &Request<'_>,
    plan: &Plan<'_>,
    mark: Mark,
    trail: &mut impl Trail,
) -> Result<FrameBlock<'m>, Refusals> {
    let block = cpu.block();
    let (order, limit) = (request.order(), request.zone_limit());
    let mut refusals = Refusals::default();
    let mut preferred = None;
    for node in block.order_from(plan.start) {
        if !plan.allows(node) {
            trail.refused(|| Refusal::OutsideSet { node });
            continue;
        }
        let kinds = ZoneKind::ALL.into_iter().rev().filter(|&kind| kind <= limit);
        let mut has_zone = false;
        for slot in kinds.filter_map(|kind| block.slot(node, kind)) {
            has_zone = true;
            let preferred = *preferred.get_or_insert(slot);
            match slot.take(cpu.token(), order, mark, limit) {
                Ok(taken) => {
                    count(slot, preferred, 1);
                    if plan.turn == Some(node) {
                        slot.counters.interleave_hit.add(1);
                    }
                    return Ok(taken);
                }
                Err(why) => {
                    refusals.zones += 1;
                    refusals.free += slot.zone().free();
                    refusals.fragmented |= why == Refused::Order;
                    trail.refused(|| slot.refusal(why, mark, limit));
                }
            }
        }
        if !has_zone {
            trail.refused(|| Refusal::NoZone { node });
        }
    }
    Err(refusals)
}

/// Counts `frames` served by one zone to a request that began at another.
pub(super) fn count(served: &Slot<'_>, preferred: &Slot<'_>, frames: u64) {
    served.counters.served.add(frames);
    if served.id().node != preferred.id().node {
        served.counters.miss.add(frames);
        preferred.counters.foreign.add(frames);
    }
}

/// Fills a block with zeros.
///
/// # Safety
/// The block is of the subsystem that `platform` belongs to.
unsafe fn zero(platform: &impl PhysMap, block: &FrameBlock<'_>) {
    // SAFETY: the block is allocated, so its frames are RAM that only its owner uses, and the
    // platform maps neighbouring frames as neighbours.
    unsafe { block.as_ptr(platform).write_bytes(0, block.order().bytes() as usize) };
}
