//! Frames out of a block.
//!
//! First a promise on the entry, then the bits: so set bits never fall below what is promised (I1),
//! and whoever was promised single frames finds as many. A longer run may not be there; then the
//! promise is given back.
#![forbid(unsafe_code)]

use super::block::Block;
use super::entry::{BLOCK_FRAMES, Entry};
use super::row::{part_of, parts};
use crate::sync::Ordering;
use crate::units::{Order, Pfn};

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

    /// Takes single frames, the lowest first, as many as there are and `into` has room for; says
    /// how many. `start` is the block's first frame.
    pub fn take_singles(self, start: Pfn, into: &mut [Pfn]) -> usize {
        let wanted = into.len().min(BLOCK_FRAMES as usize) as u16;
        if self.take_unwritten(self.entry(), 0, wanted) {
            for (at, frame) in (0..u64::from(wanted)).zip(into) {
                *frame = start + at;
            }
            return usize::from(wanted);
        }
        let some = |entry: Entry| match entry.count().min(wanted) {
            0 => None,
            count => entry.promise(count),
        };
        let Some((before, after)) = self.change(some) else { return 0 };
        let promised = before.count() - after.count();
        let into = &mut into[..usize::from(promised)];
        let mut got = 0;
        // The frames are there (I1); they may be found in a second round only, where others free
        // and take at the same time.
        while got < into.len() {
            for (at, row) in (0..).zip(self.rows()) {
                let first = start + at * 64;
                let mut seen = row.load(Ordering::Relaxed);
                loop {
                    let (left, count) = gather(seen, first, &mut into[got..]);
                    if count == 0 {
                        break;
                    }
                    // Acquire: what the last owners wrote is seen.
                    match row.compare_exchange_weak(
                        seen,
                        left,
                        Ordering::Acquire,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => {
                            got += count;
                            break;
                        }
                        Err(other) => seen = other,
                    }
                }
            }
        }
        self.lower_region(promised, before.is_whole());
        got
    }

    /// Takes all 512 frames, if all are free. Rows are neither read nor written.
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

/// Writes the lowest frames of a row to `into`, as many as it has room for; gives the bits that are
/// left, and the number.
fn gather(row: u64, first: Pfn, into: &mut [Pfn]) -> (u64, usize) {
    let mut left = row;
    let mut count = 0;
    for place in into {
        if left == 0 {
            break;
        }
        *place = first + u64::from(left.trailing_zeros());
        left &= left - 1;
        count += 1;
    }
    (left, count)
}
