//! One block: its entry, its rows, and the word of its region; and the steps that every change of
//! them is made of.
#![forbid(unsafe_code)]

use super::entry::Entry;
use super::region::WHOLE;
use super::row::{ROW_FRAMES, runs};
use crate::sync::{AtomicU16, AtomicU32, AtomicU64, Ordering, relax};
use crate::units::Order;

/// Rows of a block.
pub const BLOCK_ROWS: usize = 8;

/// The rows of a block.
pub type Rows = [AtomicU64; BLOCK_ROWS];

/// A block that belongs to an initialised region. Frames in it are numbered 0 to 511.
///
/// Orderings: a frame changes hands through its row (set with Release, claimed with Acquire) or,
/// when the block goes whole, through the entry (raised with Release, taken with Acquire). Changes
/// in between are read-modify-writes, which keep the chain; so whatever the last owner wrote is seen
/// by the next. The region's word carries no data: its place between the steps on the entry (see
/// I2) is kept by the entry's Acquire and Release.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    entry: &'a AtomicU16,
    rows: &'a Rows,
    region: &'a AtomicU32,
}

impl<'a> Block<'a> {
    /// The block that these describe.
    pub fn new(entry: &'a AtomicU16, rows: &'a Rows, region: &'a AtomicU32) -> Block<'a> {
        Block { entry, rows, region }
    }

    /// The entry, to decide with what comes next.
    pub(super) fn entry(self) -> Entry {
        // Acquire: rows that it calls written are seen as written.
        Entry(self.entry.load(Ordering::Acquire))
    }

    /// Applies a transition to the entry, until it succeeds or does not apply any more; gives the
    /// entry before and after.
    pub(super) fn change(
        self,
        mut transition: impl FnMut(Entry) -> Option<Entry>,
    ) -> Option<(Entry, Entry)> {
        let mut seen = self.entry.load(Ordering::Relaxed);
        loop {
            let next = transition(Entry(seen))?;
            // Acquire and Release: every transition is one or the other, and some are both.
            match self.entry.compare_exchange_weak(
                seen,
                next.0,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some((Entry(seen), next)),
                Err(other) => seen = other,
            }
        }
    }

    /// Takes the right to write the rows, if they mean nothing as in `seen`. Then, and until
    /// [`publish`](Self::publish), nobody else changes the entry or looks at the rows.
    pub(super) fn prepare(self, seen: Entry) -> bool {
        let Some(busy) = seen.prepare() else { return false };
        self.entry.compare_exchange(seen.0, busy.0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Writes the rows: `free` says for each what is free.
    pub(super) fn write_rows(self, free: impl Fn(usize) -> u64) {
        for (at, row) in self.rows.iter().enumerate() {
            // Relaxed: `publish` comes after it.
            row.store(free(at), Ordering::Relaxed);
        }
    }

    /// Ends what [`prepare`](Self::prepare) began.
    pub(super) fn publish(self, entry: Entry) {
        self.entry.store(entry.0, Ordering::Release);
    }

    /// Waits until nobody is writing the rows. Who does has interrupts off and eight words to
    /// write.
    pub(super) fn settled(self) -> Entry {
        loop {
            let entry = self.entry();
            if !entry.is_busy() {
                return entry;
            }
            relax();
        }
    }

    /// Lowers the region's word after the entry: `frames` left a block that was `whole` before.
    pub(super) fn lower_region(self, frames: u16, whole: bool) {
        let blocks = if whole { WHOLE } else { 0 };
        self.region.fetch_sub(u32::from(frames) + blocks, Ordering::Relaxed);
    }

    /// Raises the region's word before the entry.
    pub(super) fn raise_region(self, frames: u16) {
        self.region.fetch_add(u32::from(frames), Ordering::Relaxed);
    }

    /// Raises the region's word by a whole block, and its free frames by `frames`: 512 when they
    /// come with it, 0 when they were raised already.
    pub(super) fn announce_whole(self, frames: u16) {
        self.region.fetch_add(u32::from(frames) + WHOLE, Ordering::Relaxed);
    }

    /// Counts frames as free whose bits are set, and for which the region's free frames were
    /// raised. A block that becomes whole is announced to the region first, and called back when
    /// another CPU took a frame meanwhile. `None`: there would be more than 512.
    pub(super) fn raise(self, frames: u16) -> Option<()> {
        let mut announced = false;
        let raised = self.change(|entry| {
            let next = entry.raise(frames)?;
            if next.is_whole() && !announced {
                self.announce_whole(0);
                announced = true;
            }
            Some(next)
        });
        if announced && !raised.is_some_and(|(_, now)| now.is_whole()) {
            self.lower_region(0, true);
        }
        raised.map(|_| ())
    }

    /// The first frame of the lowest aligned run of 2^order free frames; orders 0 to 8. Only for
    /// a block whose rows are written.
    pub(super) fn find(self, order: Order) -> Option<u32> {
        let rows_of_run = (order.pages() / u64::from(ROW_FRAMES)).max(1) as usize;
        if rows_of_run == 1 {
            return (0..).zip(self.rows).find_map(|(at, row)| {
                let runs = runs(row.load(Ordering::Relaxed), order.get());
                (runs != 0).then(|| at * ROW_FRAMES + runs.trailing_zeros())
            });
        }
        let all_free =
            |rows: &&[AtomicU64]| rows.iter().all(|row| row.load(Ordering::Relaxed) == u64::MAX);
        let at = self.rows.chunks_exact(rows_of_run).position(|rows| all_free(&rows))?;
        Some((at * rows_of_run) as u32 * ROW_FRAMES)
    }

    /// The rows.
    pub(super) fn rows(self) -> &'a Rows {
        self.rows
    }
}
