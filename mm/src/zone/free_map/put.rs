//! Frames back into a block.
//!
//! First the bits, then the entry (I1). A free merges by itself: the block is whole when its count
//! is 512.
#![forbid(unsafe_code)]

use super::block::Block;
use super::entry::{BLOCK_FRAMES, Entry};
use super::row::{one_row, parts};
use crate::sync::Ordering;
use crate::zone::rows::count_of;

/// One of the frames is free already, or was never handed out. Nothing changed, unless another CPU
/// frees the same frames at this moment: then what it has not freed yet is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotTaken;

impl Block<'_> {
    /// Puts frames back: a block that was taken here, or a part of one.
    #[inline(always)]
    pub fn put(self, first: u32, count: u16) -> Result<(), NotTaken> {
        if count == BLOCK_FRAMES && self.settled().is_taken() {
            return self.put_whole();
        }
        if !self.entry().has_rows() {
            self.write_taken()?;
        }
        if let Some((at, mask)) = one_row(first, u32::from(count)) {
            if !self.set_bits(at, mask) {
                return Err(NotTaken);
            }
            return self.count_free(count).ok_or(NotTaken);
        }
        if !self.all_taken(first, count) {
            return Err(NotTaken);
        }
        let mut done = 0;
        for (at, mask) in parts(first, u32::from(count)) {
            if !self.set_bits(at, mask) {
                break;
            }
            done += mask.count_ones() as u16;
        }
        self.count_free(done).filter(|()| done == count).ok_or(NotTaken)
    }

    /// Puts single frames of one row back. Gives those that were not taken: they are left out.
    #[inline]
    pub fn put_bits(self, row: usize, mask: u64) -> u64 {
        if !self.entry().has_rows() && self.write_taken().is_err() {
            return mask;
        }
        let word = &self.rows()[row];
        let mut seen = word.load(Ordering::Relaxed);
        let new = loop {
            let new = mask & !seen;
            if new == 0 {
                return mask;
            }
            // Release: what the last owner wrote is seen by the next.
            match word.compare_exchange_weak(seen, seen | new, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => break new,
                Err(other) => seen = other,
            }
        };
        match self.count_free(count_of(new) as u16) {
            Some(()) => mask & !new,
            None => mask,
        }
    }

    /// Counts frames whose bits were set: in the region first (I2), then in the entry. `None`: the
    /// count is at odds with the bits, and the region is as before.
    #[inline(never)]
    fn count_free(self, frames: u16) -> Option<()> {
        self.raise_region(frames);
        let raised = self.raise(frames);
        if raised.is_none() {
            self.lower_region(frames, false);
        }
        raised
    }

    /// Whether none of these frames is free. Not for a block whose rows another CPU may be about
    /// to write.
    pub(super) fn all_taken(self, first: u32, count: u16) -> bool {
        let seen = self.settled();
        let taken = |(at, mask): (usize, u64)| self.rows()[at].load(Ordering::Relaxed) & mask == 0;
        seen.is_taken() || seen.has_rows() && parts(first, u32::from(count)).all(taken)
    }

    #[inline]
    fn put_whole(self) -> Result<(), NotTaken> {
        self.announce_whole(BLOCK_FRAMES);
        if self.change(Entry::put_whole).is_some() {
            return Ok(());
        }
        self.lower_region(BLOCK_FRAMES, true);
        Err(NotTaken)
    }

    /// Sees to it that the rows mean something: those of a block that is taken whole are written,
    /// with no frame free.
    #[inline(never)]
    fn write_taken(self) -> Result<(), NotTaken> {
        loop {
            let seen = self.settled();
            if seen.has_rows() {
                return Ok(());
            }
            if !seen.is_taken() {
                return Err(NotTaken);
            }
            if self.prepare(seen) {
                self.write_rows(|_| 0);
                self.publish(Entry::written(0, seen.is_part()));
                return Ok(());
            }
        }
    }

    /// Sets bits that are clear; nothing when one is set.
    fn set_bits(self, row: usize, mask: u64) -> bool {
        let row = &self.rows()[row];
        let mut seen = row.load(Ordering::Relaxed);
        while seen & mask == 0 {
            // Release: what the last owner wrote is seen by the next.
            match row.compare_exchange_weak(seen, seen | mask, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(other) => seen = other,
            }
        }
        false
    }
}
