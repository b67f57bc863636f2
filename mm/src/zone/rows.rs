//! Single frames that move between a zone and a pageset at once: by rows, so that neighbours cost
//! one step together.
#![forbid(unsafe_code)]

use crate::units::Pfn;

/// Frames of a row.
pub(crate) const ROW_FRAMES: u32 = u64::BITS;

/// Some of the 64 frames whose numbers differ in the last 6 bits only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// The first of the 64: a multiple of 64.
    pub start: Pfn,
    /// Bit n is frame `start + n`.
    pub frames: u64,
}

impl Row {
    /// How many frames.
    #[inline]
    pub fn count(self) -> u32 {
        count_of(self.frames)
    }

    /// The frames, ascending.
    pub fn iter(self) -> impl Iterator<Item = Pfn> {
        let mut left = self.frames;
        core::iter::from_fn(move || {
            let lowest = (left != 0).then(|| self.start + u64::from(left.trailing_zeros()));
            left &= left.wrapping_sub(1);
            lowest
        })
    }
}

/// How many bits are set. Few processors' baseline has an instruction for it, so one bit alone,
/// where frames are scattered, is told without counting.
#[inline]
pub(super) const fn count_of(frames: u64) -> u32 {
    if frames & frames.wrapping_sub(1) == 0 { (frames != 0) as u32 } else { count_ones(frames) }
}

/// The lowest neighbours among these frames, which are not none: the number of the first, how many,
/// `most` or fewer, and their bits. `most` is not 0.
pub(crate) const fn lowest_run(frames: u64, most: u32) -> (u32, u32, u64) {
    let first = frames.trailing_zeros();
    let all = (frames >> first).trailing_ones();
    let count = if all < most { all } else { most };
    (first, count, u64::MAX >> (ROW_FRAMES - count) << first)
}

/// Out of line, so that it is not worked out where it is not needed.
#[inline(never)]
const fn count_ones(frames: u64) -> u32 {
    frames.count_ones()
}

/// Single frames of one zone on their way, in a few rows, which bounds the time of whoever takes or
/// puts them.
#[derive(Debug)]
pub struct RowBatch {
    rows: [Row; RowBatch::ROWS],
    len: usize,
}

impl RowBatch {
    /// Rows that it has room for.
    pub const ROWS: usize = 4;

    /// Nothing.
    #[inline]
    pub fn new() -> RowBatch {
        RowBatch { rows: [Row::default(); RowBatch::ROWS], len: 0 }
    }

    /// The rows, in the order in which they came. One row may be there twice.
    #[inline]
    pub fn rows(&self) -> &[Row] {
        self.rows.get(..self.len).unwrap_or(&self.rows)
    }

    /// The same, to take frames out.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows[..self.len.min(RowBatch::ROWS)]
    }

    /// How many rows there is room for.
    #[inline]
    pub fn room(&self) -> usize {
        RowBatch::ROWS - self.len
    }

    /// Adds frames, at least one; false when there is no room.
    #[inline]
    pub fn push(&mut self, row: Row) -> bool {
        let Some(place) = self.rows.get_mut(self.len) else { return false };
        *place = row;
        self.len += 1;
        true
    }

    /// Adds one frame, to the row that came last if it is one of it; false when there is no room.
    #[inline]
    pub fn add(&mut self, frame: Pfn) -> bool {
        let offset = frame.0 % u64::from(ROW_FRAMES);
        let (start, bit) = (Pfn(frame.0 - offset), 1 << offset);
        if let Some(last) = self.len.checked_sub(1).and_then(|last| self.rows.get_mut(last))
            && last.start == start
            && last.frames & bit == 0
        {
            last.frames |= bit;
            return true;
        }
        self.push(Row { start, frames: bit })
    }

    /// Takes the first frame out.
    #[inline]
    pub fn take_first(&mut self) -> Option<Pfn> {
        let row = self.rows_mut().iter_mut().find(|row| row.frames != 0)?;
        let first = row.start + u64::from(row.frames.trailing_zeros());
        row.frames &= row.frames - 1;
        Some(first)
    }

    /// How many frames there are.
    pub fn count(&self) -> u32 {
        self.rows().iter().map(|row| row.count()).sum()
    }

    /// The frames, row by row.
    pub fn iter(&self) -> impl Iterator<Item = Pfn> {
        self.rows().iter().flat_map(|row| row.iter())
    }
}

impl Default for RowBatch {
    fn default() -> RowBatch {
        RowBatch::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn neighbours_share_a_row_and_a_frame_that_comes_twice_does_not() {
        let mut batch = RowBatch::new();
        for frame in [70, 64, 127, 128, 64, 64] {
            assert!(batch.add(Pfn(frame)));
        }
        let rows: Vec<_> = batch.rows().iter().map(|row| (row.start.0, row.frames)).collect();
        assert_eq!(rows, [(64, 1 << 63 | 1 << 6 | 1), (128, 1), (64, 1), (64, 1)]);
        assert_eq!(batch.count(), 6);
        assert!(batch.iter().eq([64, 70, 127, 128, 64, 64].map(Pfn)));
        assert_eq!(batch.take_first(), Some(Pfn(64)));
        assert!(batch.iter().eq([70, 127, 128, 64, 64].map(Pfn)));
    }

    #[test]
    fn a_full_batch_takes_no_row_more() {
        let mut batch = RowBatch::new();
        assert_eq!((batch.take_first(), batch.count()), (None, 0));
        for row in 0..RowBatch::ROWS as u64 {
            assert!(batch.add(Pfn(row * 64)));
        }
        assert_eq!(batch.room(), 0);
        assert!(!batch.add(Pfn(5000)));
        assert!(batch.add(Pfn((RowBatch::ROWS as u64 - 1) * 64 + 5)));
        assert_eq!(batch.count(), RowBatch::ROWS as u32 + 1);
        let mut left = 0;
        while batch.take_first().is_some() {
            left += 1;
        }
        assert_eq!(left, RowBatch::ROWS + 1);
    }
}
