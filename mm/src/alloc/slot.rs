//! What a CPU has of one zone, beside its pageset: counters, and the way to the zone.

use crate::pageset::{BlockWord, Pageset, PagesetCell, ROW, Refused as Unstacked};
use crate::platform::CpuToken;
use crate::sync::AtomicBool;
use crate::units::{Order, Pfn};
use crate::zone::{Cursor, FreeError, RowBatch, Zone, ZoneId, ZoneKind};

use super::FrameBlock;
use super::counters::LocalCounters;
use super::trail::Refusal;
use super::watermark::{Mark, leaves_enough};

/// One CPU's access to one zone. Lies in the CPU's block; used by that CPU under its token, read
/// by all.
pub(super) struct Slot<'m> {
    zone: &'m Zone<'m>,
    cell: &'m PagesetCell<'m>,
    id: ZoneId,
    /// The zone's place in the zone table.
    index: u16,
    /// Where the zone's first segment begins: a pageset holds offsets within one segment.
    first: Pfn,
    /// Another CPU wants what is parked here.
    pub(super) wanted: AtomicBool,
    pub(super) counters: LocalCounters,
    /// Where this CPU took last from the zone itself.
    cursor: Cursor,
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
    /// Access to `zone`, whose pageset `cell` points to.
    pub(super) fn new(zone: &'m Zone<'m>, index: u16, cell: &'m PagesetCell<'m>) -> Slot<'m> {
        let aligned = zone.span().start.0 & !(Order::MAX.pages() - 1);
        Slot {
            zone,
            cell,
            id: zone.id(),
            index,
            first: Pfn(aligned),
            wanted: AtomicBool::new(false),
            counters: LocalCounters::default(),
            cursor: Cursor::new(),
        }
    }

    pub(super) fn zone(&self) -> &'m Zone<'m> {
        self.zone
    }

    /// The zone's place, from the CPU's own memory.
    pub(super) fn id(&self) -> ZoneId {
        self.id
    }

    /// The zone's place in the zone table.
    pub(super) fn index(&self) -> u16 {
        self.index
    }

    /// Where the zone's first segment begins.
    pub(super) fn first(&self) -> Pfn {
        self.first
    }

    /// The pageset; `None` as long as the boot pageset is in its place.
    pub(super) fn pageset(&self) -> Option<&'m Pageset<'m>> {
        Some(self.cell.get()).filter(|pageset| !pageset.is_boot())
    }

    /// How many frames are parked here.
    pub(super) fn parked(&self) -> u32 {
        self.cell.get().parked()
    }

    /// Whether a drain would do anything.
    pub(super) fn has_work(&self) -> bool {
        self.pageset().is_some_and(|pageset| pageset.parked() > 0 || pageset.is_stale())
    }

    /// Takes a block. What is parked comes first; only what comes from the zone is held against the
    /// mark.
    pub(super) fn take(
        &self,
        token: &CpuToken,
        order: Order,
        mark: Mark,
        limit: ZoneKind,
    ) -> Result<FrameBlock<'m>, Refused> {
        if order != Order::ZERO {
            return self.take_block(token, order, mark, limit);
        }
        let pageset = self.cell.get();
        if let Some(word) = pageset.pop().or_else(|| pageset.find_top().then(|| pageset.pop())?) {
            return Ok(FrameBlock::new(self.zone, word));
        }
        if !self.may_take(1, mark, limit) {
            return Err(Refused::Mark);
        }
        let taken = match pageset.is_boot() {
            true => self.zone.take(token, &self.cursor, order),
            false => self.refill(token, pageset),
        };
        // No single frame left although some were counted: other CPUs were faster.
        taken.map(|pfn| self.block(order, pfn)).ok_or(Refused::Mark)
    }

    /// The same for more than one frame.
    #[inline]
    pub(super) fn take_block(
        &self,
        token: &CpuToken,
        order: Order,
        mark: Mark,
        limit: ZoneKind,
    ) -> Result<FrameBlock<'m>, Refused> {
        if let Some(word) = self.cell.get().kept().take(order) {
            return Ok(FrameBlock::new(self.zone, word));
        }
        if !self.may_take(order.pages(), mark, limit) {
            return Err(Refused::Mark);
        }
        let taken = self.zone.take(token, &self.cursor, order);
        taken.map(|pfn| self.block(order, pfn)).ok_or(Refused::Order)
    }

    #[inline]
    fn block(&self, order: Order, pfn: Pfn) -> FrameBlock<'m> {
        FrameBlock::new(self.zone, BlockWord::new(self.index, order, pfn))
    }

    /// Whether the zone may give `pages` frames (order-dependent only in the number: whether a
    /// block of the order is there shows when it is taken).
    #[inline]
    pub(super) fn may_take(&self, pages: u64, mark: Mark, limit: ZoneKind) -> bool {
        let zone = self.zone;
        leaves_enough(zone.free(), pages, mark.of(zone.watermarks()), zone.protection(limit))
    }

    /// What a refusal was about.
    pub(super) fn refusal(&self, why: Refused, mark: Mark, limit: ZoneKind) -> Refusal {
        let (zone, free) = (self.id, self.zone.free());
        match why {
            Refused::Mark => {
                let mark = mark.of(self.zone.watermarks());
                let keep = mark.saturating_add(self.zone.protection(limit));
                Refusal::Watermark { zone, free, keep }
            }
            Refused::Order => Refusal::NoBlock { zone, free },
        }
    }

    /// Takes a frame for the caller from the zone, and with it a batch for the empty pageset, from
    /// which they come out in the zone's order.
    fn refill(&self, token: &CpuToken, pageset: &Pageset<'_>) -> Option<Pfn> {
        let mut batch = RowBatch::new();
        let wanted = (pageset.batch() as usize + 1).min(ROW) as u16;
        self.zone.take_batch(token, &self.cursor, wanted, &mut batch);
        let first = batch.take_first()?;
        self.counters.refills.add(1);
        if !pageset.fill(self.first, &mut batch) {
            self.put_back(token, &batch);
        }
        Some(first)
    }

    /// Frees a block of this zone: into the pageset, if it is of an order of which that has room
    /// for another, or to the zone.
    #[inline]
    pub(super) fn give(&self, token: &CpuToken, block: FrameBlock<'_>) -> Result<(), FreeError> {
        let (word, order, pfn) = (block.word(), block.order(), block.leak());
        let pageset = self.cell.get();
        let parked = match order == Order::ZERO {
            true => self.park(token, pageset, word),
            false => !pageset.is_boot() && pageset.kept().keep(word),
        };
        if parked {
            return Ok(());
        }
        // SAFETY: whoever owned the block gave it up.
        unsafe { self.zone.put(token, pfn, order) }
    }

    /// Parks a single frame, and makes room for it; false when there can be none.
    #[inline(never)]
    fn park(&self, token: &CpuToken, pageset: &Pageset<'_>, word: BlockWord) -> bool {
        if pageset.is_boot() {
            return false;
        }
        let parked = pageset.push(word).or_else(|why| {
            match why {
                Unstacked::OtherSegment => {
                    self.drain_stack(token, pageset);
                    pageset.move_to_segment(self.first, word.pfn());
                }
                Unstacked::Full if pageset.find_room() => {}
                Unstacked::Full => self.drain_row(token, pageset),
            }
            pageset.push(word)
        });
        // A limit of one frame leaves room for none.
        parked.is_ok()
    }

    /// Gives all parked frames back to the zone.
    pub(super) fn drain(&self, token: &CpuToken) {
        let Some(pageset) = self.pageset() else { return };
        self.drain_stack(token, pageset);
        while let Some(block) = pageset.kept().take_any() {
            // SAFETY: what is kept is nobody's.
            let refused = unsafe { self.zone.put(token, block.pfn(), block.order()) };
            debug_assert_eq!(refused, Ok(()), "a kept block was not the pageset's");
        }
        pageset.refit();
    }

    fn drain_stack(&self, token: &CpuToken, pageset: &Pageset<'_>) {
        while pageset.count() > 0 {
            self.drain_oldest(token, pageset, ROW as u32);
        }
    }

    /// Gives the oldest frames of a full pageset back: with the one that is pushed next it is a
    /// batch below the limit then, or not so far where they are scattered.
    fn drain_row(&self, token: &CpuToken, pageset: &Pageset<'_>) {
        let keep = pageset.limit().saturating_sub(pageset.batch() + 1);
        let surplus = pageset.count().saturating_sub(keep);
        self.drain_oldest(token, pageset, surplus.min(ROW as u32));
        pageset.find_room();
    }

    fn drain_oldest(&self, token: &CpuToken, pageset: &Pageset<'_>, count: u32) {
        let mut batch = RowBatch::new();
        pageset.take_oldest(count, &mut batch);
        self.put_back(token, &batch);
        self.counters.drains.add(1);
    }

    fn put_back(&self, token: &CpuToken, batch: &RowBatch) {
        // Parked frames were taken from this zone, or came in through `FrameBlock`. One that the
        // zone refuses came through `from_raw` against its contract, and stays out.
        // SAFETY: what is parked or left over from a refill is nobody's.
        let refused = unsafe { self.zone.put_batch(token, batch) };
        debug_assert_eq!(refused, None, "a parked frame was not the pageset's");
    }
}
