//! Many single frames at once, with few atomic operations.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::put::NotTaken;
use super::row::ROW_FRAMES;
use crate::ids::CpuId;
use crate::sync::Ordering::Relaxed;
use crate::units::{Order, Pfn};
use crate::zone::{Cursor, FreeError, Row, RowBatch};

impl<'m> FreeMap<'m> {
    /// Takes up to `wanted` single frames of one block, with one promise.
    pub(super) fn take_singles(
        &self,
        cpu: CpuId,
        cursor: &Cursor,
        wanted: u16,
        into: &mut RowBatch,
    ) -> u16 {
        let taken = self.small(cpu, cursor, 1, |block, start| {
            Some(block.take_singles(start, wanted, into)).filter(|&taken| taken > 0)
        });
        let Some(taken) = taken else { return 0 };
        self.free.fetch_sub(u64::from(taken), Relaxed);
        taken
    }

    /// Puts single frames back, neighbours in one row together. Gives the first error; what it
    /// names is left out.
    pub(super) fn put_singles(&self, batch: &RowBatch) -> Option<FreeError> {
        self.free.fetch_add(u64::from(batch.count()), Relaxed);
        let mut error = None;
        for &row in batch.rows() {
            let refused = self.put_row(row);
            if refused != 0 {
                self.free.fetch_sub(u64::from(refused.count_ones()), Relaxed);
                let lowest = row.start + u64::from(refused.trailing_zeros());
                error = error.or_else(|| Some(self.why_not(lowest, 1)));
            }
        }
        error
    }

    /// Puts back frames of one row; gives the bits of those that are refused.
    fn put_row(&self, row: Row) -> u64 {
        let lowest = row.start + u64::from(row.frames.trailing_zeros());
        let Some((number, area)) = self.place_of(lowest) else { return self.put_each(row) };
        let (at, first) = area.place(row.start);
        match area.block(at) {
            Some(block) if !block.entry().is_part() => {
                let refused = block.put_bits((first / ROW_FRAMES) as usize, row.frames);
                self.note_room(number, area, at);
                refused
            }
            _ => self.put_each(row),
        }
    }

    /// The same one by one: not all frames of the block are managed, or they are of two areas.
    #[cold]
    fn put_each(&self, row: Row) -> u64 {
        let refused = |&frame: &Pfn| matches!(self.put_block(frame, Order::ZERO), Err(NotTaken));
        row.iter().filter(refused).fold(0, |bits, frame| bits | 1 << (frame - row.start))
    }
}
