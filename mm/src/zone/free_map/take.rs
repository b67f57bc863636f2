//! Frames out of a block.
//!
//! First a promise on the entry, then the bits: so set bits never fall below what is promised (I1),
//! and whoever was promised single frames finds as many. A longer run may not be there; then the
//! promise is given back.
#![forbid(unsafe_code)]

use super::block::Block;
use super::entry::{BLOCK_FRAMES, Entry};
use super::row::{ROW_FRAMES, lowest, one_row, part_of, parts};
use crate::sync::{AtomicU64, Ordering};
use crate::units::{Order, Pfn};
use crate::zone::{Row, RowBatch};

impl Block<'_> {
    /// Takes a block of order 0 to 8, and says which frame is its first.
    pub fn take(self, order: Order) -> Option<u32> {
        let pages = order.pages() as u16;
        let seen = self.entry();
        if self.take_unwritten(seen, 0, pages) {
            return Some(0);
        }
        if !seen.has_rows() || seen.count() < pages {
            return None;
        }
        // A look before the promise: promises that have to be given back are then rare.
        let single = order == Order::ZERO;
        let mut found = if single { None } else { Some(self.find(order)?) };
        let (before, _) = self.change(|entry| entry.promise(pages))?;
        loop {
            if let Some(first) = found
                && self.claim(first, pages)
            {
                self.lower_region(pages, before.is_whole());
                return Some(first);
            }
            found = self.find(order);
            if found.is_none() && !single {
                self.give_back(pages, before);
                return None;
            }
        }
    }

    /// Takes single frames, the lowest first, and adds them to `into`, which is empty: at most
    /// `wanted`, and as many rows as that has room for. Says how many. `start` is the block's first
    /// frame.
    pub fn take_singles(self, start: Pfn, wanted: u16, into: &mut RowBatch) -> u16 {
        let row_frames = u64::from(ROW_FRAMES);
        let row = |at: usize, frames| Row { start: start + at as u64 * row_frames, frames };
        let wanted = wanted.min(RowBatch::ROWS as u16 * ROW_FRAMES as u16);
        if self.take_unwritten(self.entry(), 0, wanted) {
            for (at, mask) in parts(0, u32::from(wanted)) {
                into.push(row(at, mask));
            }
            return wanted;
        }
        let some = |entry: Entry| match entry.count().min(wanted) {
            0 => None,
            count => entry.promise(count),
        };
        let Some((before, after)) = self.change(some) else { return 0 };
        let promised = before.count() - after.count();
        let mut missing = u32::from(promised);
        // The frames are there (I1); they may be found in a second round only, where others free
        // and take at the same time.
        while missing == u32::from(promised) {
            for (at, word) in self.rows().iter().enumerate() {
                let (claimed, count) = claim_lowest(word, missing);
                if count == 0 {
                    continue;
                }
                into.push(row(at, claimed));
                missing -= count;
                if missing == 0 || into.room() == 0 {
                    break;
                }
            }
        }
        let taken = promised - missing as u16;
        self.lower_region(taken, before.is_whole());
        if missing > 0 {
            // Cannot fail: these frames were counted here before.
            let _ = self.raise(missing as u16);
        }
        taken
    }

    /// Takes all 512 frames, if all are free. Rows are neither read nor written.
    #[inline]
    pub fn take_whole(self) -> bool {
        let taken = self.change(Entry::take_whole).is_some();
        if taken {
            self.lower_region(BLOCK_FRAMES, true);
        }
        taken
    }

    /// Takes exactly these frames, if all are free. Waits while the rows are being written.
    pub fn take_exactly(self, first: u32, count: u16) -> bool {
        if count == BLOCK_FRAMES {
            return self.take_whole();
        }
        if self.take_unwritten(self.settled(), first, count) {
            return true;
        }
        let Some((before, _)) = self.change(|entry| entry.promise(count)) else { return false };
        if self.claim(first, count) {
            self.lower_region(count, before.is_whole());
            return true;
        }
        self.give_back(count, before);
        false
    }

    /// Takes frames of a whole block whose rows were never written, and writes them.
    fn take_unwritten(self, mut seen: Entry, first: u32, count: u16) -> bool {
        while seen.is_whole() && !seen.has_rows() {
            if self.prepare(seen) {
                self.write_rows(|row| !part_of(row, first, u32::from(count)));
                self.publish(Entry::written(BLOCK_FRAMES - count, false));
                self.lower_region(count, true);
                return true;
            }
            seen = self.entry();
        }
        false
    }

    /// Claims bits that were promised. All or none: rows that were claimed before one failed are
    /// given back.
    fn claim(self, first: u32, count: u16) -> bool {
        let count = u32::from(count);
        if let Some((at, mask)) = one_row(first, count) {
            return self.claim_bits(at, mask);
        }
        for (done, (at, mask)) in parts(first, count).enumerate() {
            if !self.claim_bits(at, mask) {
                for (at, mask) in parts(first, count).take(done) {
                    // Release: the frames go on to another owner.
                    self.rows()[at].fetch_or(mask, Ordering::Release);
                }
                return false;
            }
        }
        true
    }

    fn claim_bits(self, row: usize, mask: u64) -> bool {
        let row = &self.rows()[row];
        let mut seen = row.load(Ordering::Relaxed);
        while seen & mask == mask {
            // Acquire: what the last owners wrote is seen.
            match row.compare_exchange_weak(
                seen,
                seen & !mask,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(other) => seen = other,
            }
        }
        false
    }

    /// Takes a promise back for which no bits were found. The region was not lowered for it.
    fn give_back(self, frames: u16, before: Entry) {
        if before.is_whole() {
            self.lower_region(0, true);
        }
        // Cannot fail: these frames were counted here before.
        let _ = self.raise(frames);
    }
}

/// Claims the lowest free frames of a row, `count` at most; says which and how many.
fn claim_lowest(row: &AtomicU64, count: u32) -> (u64, u32) {
    let mut seen = row.load(Ordering::Relaxed);
    loop {
        let (claimed, count) = lowest(seen, count);
        if count == 0 {
            return (0, 0);
        }
        // Acquire: what the last owners wrote is seen.
        match row.compare_exchange_weak(seen, seen & !claimed, Ordering::Acquire, Ordering::Relaxed)
        {
            Ok(_) => return (claimed, count),
            Err(other) => seen = other,
        }
    }
}
