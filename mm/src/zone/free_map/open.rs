//! Frames of a block that become managed, and that cease to be.
//!
//! Both run under the lock of the list of managed ranges, beside CPUs that take and put other
//! frames of the block.
#![forbid(unsafe_code)]

use super::block::Block;
use super::entry::{BLOCK_FRAMES, Entry};
use super::row::{part_of, parts};
use crate::sync::Ordering;

impl Block<'_> {
    /// Makes reserved frames free. `part`: other frames of the block are still not managed.
    pub(super) fn open(self, first: u32, count: u16, part: bool) {
        self.raise_region(count);
        loop {
            let seen = self.settled();
            if seen.has_rows() {
                for (at, mask) in parts(first, u32::from(count)) {
                    // Release, as every free.
                    self.rows()[at].fetch_or(mask, Ordering::Release);
                }
                // Cannot fail: reserved frames were not counted.
                let _ = self.raise(count);
                let _ = self.change(|entry| Some(entry.with_part(part)));
                return;
            }
            if self.prepare(seen) {
                if count == BLOCK_FRAMES {
                    self.announce_whole(0);
                    self.publish(Entry::WHOLE);
                } else {
                    self.write_rows(|row| part_of(row, first, u32::from(count)));
                    self.publish(Entry::written(count, part));
                }
                return;
            }
        }
    }
}
