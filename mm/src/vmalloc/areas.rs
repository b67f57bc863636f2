//! Which addresses of the window are in use: areas by address, first fit.
//!
//! In: sizes and alignments. Out: addresses that no other area has, each area followed by a guard
//! page that nothing is ever mapped at. The structure is a sorted list, behind these few
//! functions; the cost of each is linear in the number of areas.

use core::ops::Range;
use core::ptr::NonNull;

use crate::platform::MapSize;
use crate::units::{PAGE_SIZE, Pfn, VirtAddr};

use super::slab::Slab;

/// Address space after each area.
pub(super) const GUARD: u64 = PAGE_SIZE;
/// What the page tables of one directory map.
const GIB: u64 = 1 << 30;

/// What an area is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Area {
    pub(super) start: VirtAddr,
    /// Without the guard; a multiple of the leaf's size.
    pub(super) bytes: u64,
    pub(super) leaf: MapSize,
    pub(super) caller: &'static str,
    pub(super) state: State,
}

/// Where an area is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It has addresses; frames are on their way.
    Building,
    Live,
    /// Its frames are on their way back.
    Freeing,
}

/// Why there are no addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReserveError {
    /// The slab wants a frame: [`Areas::add_frame`], then once more.
    NoRecord,
    /// No gap is large enough.
    NoAddresses,
}

/// All areas of the window.
pub(super) struct Areas {
    window: Range<u64>,
    first: Option<NonNull<Record>>,
    slab: Slab<Record>,
    count: usize,
}

// SAFETY: the records belong to the list alone.
unsafe impl Send for Areas {}

struct Record {
    area: Area,
    /// Addresses that nobody else may have: the area and its guard; while it is freed all around
    /// it whose page tables may go with it.
    held: Range<u64>,
    previous: Option<NonNull<Record>>,
    next: Option<NonNull<Record>>,
}

impl Areas {
    pub(super) fn new(window: Range<VirtAddr>) -> Areas {
        let window = window.start.0..window.end.0;
        Areas { window, first: None, slab: Slab::new(), count: 0 }
    }

    /// How many areas there are, in whichever state.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Brings a frame for records.
    ///
    /// # Safety
    /// As [`Slab::add_frame`]; [`Areas::release`] returns it.
    pub(super) unsafe fn add_frame(&mut self, frame: Pfn, memory: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.slab.add_frame(frame, memory) };
    }

    /// Takes the lowest addresses that fit, aligned to the leaf's size, for an area that is
    /// building.
    pub(super) fn reserve(
        &mut self,
        bytes: u64,
        leaf: MapSize,
        caller: &'static str,
    ) -> Result<VirtAddr, ReserveError> {
        let place = self.first_fit(bytes, leaf.bytes()).ok_or(ReserveError::NoAddresses)?;
        let start = VirtAddr(place.start);
        let area = Area { start, bytes, leaf, caller, state: State::Building };
        let held = place.start..place.start + bytes + GUARD;
        let record = Record { area, held, previous: place.after, next: place.before };
        let record = self.slab.insert(record).map_err(|_| ReserveError::NoRecord)?;
        self.set_next(place.after, Some(record));
        self.set_previous(place.before, Some(record));
        self.count += 1;
        Ok(start)
    }

    /// Marks the area that starts at `start` as whole.
    pub(super) fn publish(&mut self, start: VirtAddr) {
        if let Some(record) = self.find(start) {
            self.record_mut(record).area.state = State::Live;
        }
    }

    /// Marks the live area that starts at `start` as on its way out. Nobody gets addresses around
    /// it, up to its neighbours or the next multiples of 1 GiB, until it is released: page tables
    /// for them can go together with the area.
    pub(super) fn begin_free(&mut self, start: VirtAddr) -> Option<Area> {
        let record = self.find(start)?;
        if self.record(record).area.state != State::Live {
            return None;
        }
        Some(self.hold_around(record))
    }

    /// The same for an area that could not be built.
    pub(super) fn abandon(&mut self, start: VirtAddr) -> Option<Area> {
        let record = self.find(start)?;
        Some(self.hold_around(record))
    }

    /// The addresses that the area which starts at `start` keeps others off.
    pub(super) fn held(&self, start: VirtAddr) -> Option<Range<VirtAddr>> {
        let held = &self.record(self.find(start)?).held;
        Some(VirtAddr(held.start)..VirtAddr(held.end))
    }

    /// Lets the addresses go. Returns the frame that the slab needs no more, if there is one.
    pub(super) fn release(&mut self, start: VirtAddr) -> Option<Pfn> {
        let record = self.find(start)?;
        let Record { previous, next, .. } = *self.record(record);
        self.set_next(previous, next);
        self.set_previous(next, previous);
        self.count -= 1;
        // SAFETY: it is out of the list, which was the only one to know it.
        unsafe { self.slab.remove(record) }.1
    }

    /// The area with the lowest start at or after `from`.
    pub(super) fn at_or_after(&self, from: VirtAddr) -> Option<Area> {
        self.records().map(|record| self.record(record).area).find(|area| area.start >= from)
    }

    fn hold_around(&mut self, at: NonNull<Record>) -> Area {
        let record = self.record(at);
        let end_before = record.previous.map_or(self.window.start, |r| self.record(r).held.end);
        let start_after = record.next.map_or(self.window.end, |r| self.record(r).held.start);
        let low = (record.held.start / GIB * GIB).max(end_before);
        let high = record.held.end.checked_next_multiple_of(GIB).unwrap_or(u64::MAX);
        let held = low..high.min(start_after);
        let record = self.record_mut(at);
        record.held = held;
        record.area.state = State::Freeing;
        record.area
    }

    fn first_fit(&self, bytes: u64, align: u64) -> Option<Place> {
        let mut start = self.window.start.checked_next_multiple_of(align)?;
        let mut after = None;
        for record in self.records() {
            let held = &self.record(record).held;
            let end = start.checked_add(bytes)?.checked_add(GUARD)?;
            if end <= held.start {
                return Some(Place { start, after, before: Some(record) });
            }
            start = held.end.checked_next_multiple_of(align)?;
            after = Some(record);
        }
        let end = start.checked_add(bytes)?.checked_add(GUARD)?;
        (end <= self.window.end).then_some(Place { start, after, before: None })
    }

    fn records(&self) -> impl Iterator<Item = NonNull<Record>> + '_ {
        core::iter::successors(self.first, |&record| self.record(record).next)
    }

    fn find(&self, start: VirtAddr) -> Option<NonNull<Record>> {
        self.records().find(|&record| self.record(record).area.start == start)
    }

    fn record(&self, record: NonNull<Record>) -> &Record {
        // SAFETY: records of the list are in the slab until they are released, and only changed
        // through `&mut self`.
        unsafe { record.as_ref() }
    }

    fn record_mut(&mut self, mut record: NonNull<Record>) -> &mut Record {
        // SAFETY: as above; the list is borrowed mutably.
        unsafe { record.as_mut() }
    }

    fn set_next(&mut self, of: Option<NonNull<Record>>, next: Option<NonNull<Record>>) {
        match of {
            Some(record) => self.record_mut(record).next = next,
            None => self.first = next,
        }
    }

    fn set_previous(&mut self, of: Option<NonNull<Record>>, previous: Option<NonNull<Record>>) {
        if let Some(record) = of {
            self.record_mut(record).previous = previous;
        }
    }
}

/// A gap that fits: where, and between which areas.
struct Place {
    start: u64,
    after: Option<NonNull<Record>>,
    before: Option<NonNull<Record>>,
}

#[cfg(test)]
#[path = "areas_tests.rs"]
mod tests;
