//! What a CPU has of one zone, beside its pageset: counters, and the way to the zone.

use crate::pageset::{BlockWord, Pageset, PagesetCell, ROW, Refused as Unstacked};
use crate::platform::CpuToken;
use crate::sync::AtomicBool;
use crate::units::{Order, Pfn};
use crate::zone::{Cursor, FreeError, Zone, ZoneId, ZoneKind};

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
        self.cell.get().count()
    }

    /// Whether a drain would do anything.
    pub(super) fn has_work(&self) -> bool {
        self.pageset().is_some_and(|pageset| pageset.count() > 0 || pageset.is_stale())
    }

    /// Takes a block. Single frames come from the pageset while it has some; only what comes from
    /// the zone is held against the mark.
    pub(super) fn take(
        &self,
        token: &CpuToken,
        order: Order,
        mark: Mark,
        limit: ZoneKind,
    ) -> Result<FrameBlock<'m>, Refused> {
        let pageset = self.cell.get();
        if order == Order::ZERO
            && let Some(word) =
                pageset.pop().or_else(|| pageset.find_top().then(|| pageset.pop())?)
        {
            return Ok(FrameBlock::new(self.zone, word));
        }
        if !self.may_take(order.pages(), mark, limit) {
            return Err(Refused::Mark);
        }
        let taken = match order == Order::ZERO && !pageset.is_boot() {
            true => self.refill(token, pageset),
            false => self.zone.take(token, &self.cursor, order),
        };
        let block = |pfn| FrameBlock::new(self.zone, BlockWord::new(self.index, order, pfn));
        // No single frame left although some were counted: other CPUs were faster.
        let why = if order == Order::ZERO { Refused::Mark } else { Refused::Order };
        taken.map(block).ok_or(why)
    }

    /// Whether the zone may give `pages` frames (order-dependent only in the number: whether a
    /// block of the order is there shows when it is taken).
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
        let mut frames = [Pfn(0); ROW];
        let wanted = (pageset.batch() as usize + 1).min(ROW);
        let taken = self.zone.take_batch(token, &self.cursor, frames.get_mut(..wanted)?);
        let (&first, rest) = frames.get(..taken)?.split_first()?;
        self.counters.refills.add(1);
        let parked = pageset.fill(self.first, rest);
        if parked < rest.len() {
            self.put_back(token, &rest[parked..]);
        }
        Some(first)
    }

    /// Frees a block of this zone: a single frame into the pageset, others to the zone.
    pub(super) fn give(&self, token: &CpuToken, block: FrameBlock<'_>) -> Result<(), FreeError> {
        let (word, order, pfn) = (block.word(), block.order(), block.leak());
        let pageset = self.cell.get();
        if order != Order::ZERO || pageset.is_boot() {
            // SAFETY: whoever owned the block gave it up.
            return unsafe { self.zone.put(token, pfn, order) };
        }
        let parked = pageset.push(word).or_else(|why| {
            match why {
                Unstacked::OtherSegment => {
                    self.drain(token);
                    pageset.move_to_segment(self.first, pfn);
                }
                Unstacked::Full if pageset.find_room() => {}
                Unstacked::Full => self.drain_row(token, pageset),
            }
            pageset.push(word)
        });
        match parked {
            Ok(()) => Ok(()),
            // A limit of one frame leaves room for none.
            // SAFETY: as above.
            Err(_) => unsafe { self.zone.put(token, pfn, order) },
        }
    }

    /// Gives all parked frames back to the zone.
    pub(super) fn drain(&self, token: &CpuToken) {
        let Some(pageset) = self.pageset() else { return };
        while pageset.count() > 0 {
            self.drain_oldest(token, pageset, ROW);
        }
        pageset.refit();
    }

    /// Gives the oldest frames back, until a batch is missing to the limit.
    fn drain_row(&self, token: &CpuToken, pageset: &Pageset<'_>) {
        // With the frame that is pushed next it is a batch below the limit.
        let keep = pageset.limit().saturating_sub(pageset.batch() + 1);
        while pageset.count() > keep {
            let surplus = (pageset.count() - keep) as usize;
            self.drain_oldest(token, pageset, surplus.min(ROW));
        }
        pageset.find_room();
    }

    fn drain_oldest(&self, token: &CpuToken, pageset: &Pageset<'_>, count: usize) {
        let mut frames = [Pfn(0); ROW];
        let taken = pageset.take_oldest(&mut frames[..count.min(ROW)]);
        self.put_back(token, &frames[..taken]);
        self.counters.drains.add(1);
    }

    fn put_back(&self, token: &CpuToken, frames: &[Pfn]) {
        // Parked frames were taken from this zone, or came in through `FrameBlock`. One that the
        // zone refuses came through `from_raw` against its contract, and stays out.
        // SAFETY: what is parked or left over from a refill is nobody's.
        let refused = unsafe { self.zone.put_batch(token, frames) };
        debug_assert_eq!(refused, None, "a parked frame was not the pageset's");
    }
}
