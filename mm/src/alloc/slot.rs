//! What a CPU has of one zone: its pageset, its counters, and the way to the zone.

use crate::pageset::{BATCH_MAX, Pageset};
use crate::platform::CpuToken;
use crate::sync::{AtomicBool, AtomicPtr, Ordering};
use crate::units::{Order, Pfn};
use crate::zone::{FreeError, Zone, ZoneId, ZoneKind};

use super::FrameBlock;
use super::counters::LocalCounters;
use super::watermark::{Mark, leaves_enough};

/// One CPU's access to one zone. Lies in the CPU's block; used by that CPU under its token, read
/// by all.
pub(super) struct Slot<'m> {
    zone: &'m Zone<'m>,
    id: ZoneId,
    /// Where the zone's first segment begins: a pageset holds offsets within one segment.
    first: Pfn,
    /// Null: the boot pageset, which has high 0 and batch 1 and so never holds a frame.
    pageset: AtomicPtr<Pageset>,
    /// Another CPU wants what is parked here.
    pub(super) wanted: AtomicBool,
    pub(super) counters: LocalCounters,
}

/// Why a zone gave nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// It would go below the mark.
    Mark,
    /// It has no free block of this order.
    Order,
}

impl<'m> Slot<'m> {
    /// Access to `zone`, with the boot pageset.
    pub(super) fn new(zone: &'m Zone<'m>) -> Slot<'m> {
        let aligned = zone.span().start.0 & !(Order::MAX.pages() - 1);
        Slot {
            zone,
            id: zone.id(),
            first: Pfn(aligned),
            pageset: AtomicPtr::new(core::ptr::null_mut()),
            wanted: AtomicBool::new(false),
            counters: LocalCounters::default(),
        }
    }

    pub(super) fn zone(&self) -> &'m Zone<'m> {
        self.zone
    }

    /// The zone's place, from the CPU's own memory.
    pub(super) fn id(&self) -> ZoneId {
        self.id
    }

    /// Where the zone's first segment begins.
    pub(super) fn first(&self) -> Pfn {
        self.first
    }

    /// The pageset; `None` as long as the boot pageset is in its place.
    pub(super) fn pageset(&self) -> Option<&'m Pageset> {
        // Acquire pairs with the Release in `install`: the pageset is seen initialised.
        let pageset = self.pageset.load(Ordering::Acquire);
        // SAFETY: null or from `install`, whose pageset lives for `'m` and is only ever shared.
        unsafe { pageset.as_ref() }
    }

    /// Puts a pageset in the place of the boot pageset; false when there is another one already.
    pub(super) fn install(&self, pageset: &'m Pageset) -> bool {
        let boot = core::ptr::null_mut();
        let new = core::ptr::from_ref(pageset).cast_mut();
        // Release pairs with the Acquire in `pageset`. On failure nothing is read.
        self.pageset.compare_exchange(boot, new, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// How many frames are parked here.
    pub(super) fn parked(&self) -> u32 {
        self.pageset().map_or(0, Pageset::count)
    }

    /// Takes a block. Single frames come from the pageset while it has some; only what comes from
    /// the zone is held against the mark.
    pub(super) fn take(
        &self,
        token: &CpuToken,
        order: Order,
        mark: Mark,
        limit: ZoneKind,
    ) -> Result<Pfn, Refused> {
        let pageset = if order == Order::ZERO { self.pageset() } else { None };
        if let Some(frame) = pageset.and_then(Pageset::pop) {
            return Ok(frame);
        }
        if !self.may_take(order.pages(), mark, limit) {
            return Err(Refused::Mark);
        }
        let taken = match pageset {
            Some(pageset) => self.refill(token, pageset),
            None => self.zone.take(token, order),
        };
        // No single frame left although some were counted: other CPUs were faster.
        taken.ok_or(if order == Order::ZERO { Refused::Mark } else { Refused::Order })
    }

    /// Whether the zone may give `pages` frames (order-dependent only in the number: whether a
    /// block of the order is there shows when it is taken).
    pub(super) fn may_take(&self, pages: u64, mark: Mark, limit: ZoneKind) -> bool {
        let zone = self.zone;
        leaves_enough(zone.free(), pages, mark.of(zone.watermarks()), zone.protection(limit))
    }

    /// Takes a batch from the zone: one frame for the caller, the rest into the empty pageset, so
    /// that they come out in the zone's order.
    fn refill(&self, token: &CpuToken, pageset: &Pageset) -> Option<Pfn> {
        let mut frames = [Pfn(0); BATCH_MAX];
        let batch = (pageset.batch() as usize).clamp(1, BATCH_MAX);
        let taken = self.zone.take_batch(token, &mut frames[..batch]);
        let (&first, rest) = frames[..taken].split_first()?;
        self.counters.refills.add(1);
        pageset.move_to_segment(self.first, first);
        for &frame in rest.iter().rev() {
            if pageset.push(frame).is_err() {
                self.put_back(token, &[frame]);
            }
        }
        Some(first)
    }

    /// Frees a block of this zone: a single frame into the pageset, others to the zone.
    pub(super) fn give(&self, token: &CpuToken, block: FrameBlock<'_>) -> Result<(), FreeError> {
        let (order, pfn) = (block.order(), block.leak());
        let pageset = if order == Order::ZERO { self.pageset() } else { None };
        let Some(pageset) = pageset else {
            // SAFETY: whoever owned the block gave it up.
            return unsafe { self.zone.put(token, pfn, order) };
        };
        if pageset.push(pfn).is_err() {
            // Of another segment: those of the old one make room.
            self.drain(token);
            pageset.move_to_segment(self.first, pfn);
            if pageset.push(pfn).is_err() {
                // SAFETY: as above.
                return unsafe { self.zone.put(token, pfn, order) };
            }
        }
        // Push first, compare after: with a limit of 0 nothing stays.
        let surplus = pageset.surplus();
        if surplus > 0 {
            self.drain_some(token, surplus);
        }
        Ok(())
    }

    /// Gives all parked frames back to the zone.
    pub(super) fn drain(&self, token: &CpuToken) {
        self.drain_some(token, u32::MAX);
    }

    /// Gives the oldest `count` frames back, a batch at a time.
    fn drain_some(&self, token: &CpuToken, count: u32) {
        let Some(pageset) = self.pageset() else { return };
        let mut frames = [Pfn(0); BATCH_MAX];
        let mut left = count as usize;
        while left > 0 {
            let wanted = left.min(BATCH_MAX);
            let taken = pageset.take_oldest(&mut frames[..wanted]);
            if taken == 0 {
                break;
            }
            self.put_back(token, &frames[..taken]);
            self.counters.drains.add(1);
            left -= taken;
        }
    }

    fn put_back(&self, token: &CpuToken, frames: &[Pfn]) {
        // Parked frames were taken from this zone, or came in through `FrameBlock`. One that the
        // zone refuses came through `from_raw` against its contract, and stays out.
        // SAFETY: what is parked or left over from a refill is nobody's.
        let refused = unsafe { self.zone.put_batch(token, frames) };
        debug_assert_eq!(refused, None, "a parked frame was not the pageset's");
    }
}
