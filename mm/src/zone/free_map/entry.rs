//! A block's entry: how many of its 512 frames are free, and what its rows mean. Plain transitions;
//! the loops that apply them are in `block`, `take`, `put` and `open`.
#![forbid(unsafe_code)]

/// Frames of a block, of 2 MiB.
pub(super) const BLOCK_FRAMES: u16 = 512;

/// The entry of one block, as it lies in memory.
///
/// ```text
/// bits 0-9   free frames that nobody was promised, 0 to 512
/// bit 10     TAKEN  handed out whole: the count is 0, the rows mean nothing
/// bit 11     BITS   the rows are written
/// bit 12     BUSY   one CPU is writing the rows: the count is 0
/// bit 13     PART   not all frames are managed: who frees asks the list of managed ranges
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry(pub(super) u16);

const COUNT: u16 = 0x3ff;
const TAKEN: u16 = 1 << 10;
const BITS: u16 = 1 << 11;
const BUSY: u16 = 1 << 12;
const PART: u16 = 1 << 13;

impl Entry {
    /// All frames are free; the rows were never written.
    pub(super) const WHOLE: Entry = Entry(BLOCK_FRAMES);
    /// No frame is managed; the rows were never written.
    pub(super) const RESERVED: Entry = Entry(PART);

    /// The rows are written; `free` frames are free.
    pub(super) const fn written(free: u16, part: bool) -> Entry {
        Entry(free | BITS).with_part(part)
    }

    /// Free frames that nobody was promised.
    pub(super) const fn count(self) -> u16 {
        self.0 & COUNT
    }

    /// Whether all 512 frames are free.
    pub(super) const fn is_whole(self) -> bool {
        self.count() == BLOCK_FRAMES
    }

    /// Whether it is handed out whole.
    pub(super) const fn is_taken(self) -> bool {
        self.0 & TAKEN != 0
    }

    /// Whether a CPU is writing the rows.
    pub(super) const fn is_busy(self) -> bool {
        self.0 & BUSY != 0
    }

    /// Whether some frames are not managed.
    pub(super) const fn is_part(self) -> bool {
        self.0 & PART != 0
    }

    /// Whether the rows say which frames are free.
    pub(super) const fn has_rows(self) -> bool {
        self.0 & (BITS | TAKEN | BUSY) == BITS
    }

    /// Promises `frames` frames to the caller, who then claims their bits.
    pub(super) const fn promise(self, frames: u16) -> Option<Entry> {
        if self.has_rows() && self.count() >= frames { Some(Entry(self.0 - frames)) } else { None }
    }

    /// Counts `frames` frames as free whose bits are set.
    pub(super) const fn raise(self, frames: u16) -> Option<Entry> {
        if self.has_rows() && frames <= BLOCK_FRAMES - self.count() {
            Some(Entry(self.0 + frames))
        } else {
            None
        }
    }

    /// Hands out a whole block. The rows stay as they are: unwritten, or all ones.
    pub(super) const fn take_whole(self) -> Option<Entry> {
        if self.is_whole() { Some(Entry((self.0 - BLOCK_FRAMES) | TAKEN)) } else { None }
    }

    /// Takes a whole block back.
    pub(super) const fn put_whole(self) -> Option<Entry> {
        if self.is_taken() { Some(Entry(self.0 - TAKEN + BLOCK_FRAMES)) } else { None }
    }

    /// Begins to write the rows of a block whose rows mean nothing yet: it is whole, taken or
    /// reserved.
    pub(super) const fn prepare(self) -> Option<Entry> {
        if self.has_rows() || self.is_busy() { None } else { Some(Entry(BUSY | self.0 & PART)) }
    }

    /// The same with another word on whether some frames are not managed.
    pub(super) const fn with_part(self, part: bool) -> Entry {
        Entry(if part { self.0 | PART } else { self.0 & !PART })
    }
}

/// Which entries are looked for: one comparison for each, since the marks lie above the count.
#[derive(Clone, Copy)]
pub(super) struct EntryRange {
    mask: u16,
    least: u16,
    span: u16,
}

impl EntryRange {
    /// `frames` or more are free, 1 to 512.
    pub(super) const fn any(frames: u16) -> EntryRange {
        EntryRange { mask: COUNT, least: frames, span: BLOCK_FRAMES.saturating_sub(frames) }
    }

    /// The same, and the rows say which, and not all are.
    pub(super) const fn partly(frames: u16) -> EntryRange {
        let span = (BLOCK_FRAMES - 1).saturating_sub(frames);
        EntryRange { mask: COUNT | TAKEN | BITS | BUSY, least: BITS | frames, span }
    }

    /// Whether this entry is one of them.
    #[inline]
    pub(super) const fn has(self, entry: Entry) -> bool {
        (entry.0 & self.mask).wrapping_sub(self.least) <= self.span
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn promises_and_frees_keep_the_count_in_range() {
        let some = Entry::written(5, false);
        assert_eq!(some.promise(5), Some(Entry::written(0, false)));
        assert_eq!(some.promise(6), None);
        assert_eq!(some.raise(507), Some(Entry::written(512, false)));
        assert_eq!(some.raise(508), None);
        assert_eq!(Entry::written(3, true).raise(1), Some(Entry::written(4, true)));
        // Rows that were never written hold no bits to claim.
        assert_eq!(Entry::WHOLE.promise(1), None);
        assert_eq!(Entry::RESERVED.promise(1), None);
    }

    #[test]
    fn whole_blocks_come_back_as_they_went() {
        for whole in [Entry::WHOLE, Entry::written(512, false)] {
            let taken = whole.take_whole().unwrap();
            assert!(taken.is_taken() && !taken.has_rows() && taken.count() == 0);
            assert_eq!((taken.take_whole(), taken.promise(1), taken.raise(1)), (None, None, None));
            assert_eq!(taken.put_whole(), Some(whole));
        }
        assert_eq!(Entry::written(511, false).take_whole(), None);
        assert_eq!(Entry::written(0, false).put_whole(), None);
        assert_eq!(Entry::WHOLE.put_whole(), None);
    }

    #[test]
    fn a_range_is_what_the_entry_says() {
        let taken = Entry::written(512, false).take_whole().unwrap();
        let mut entries = vec![Entry::WHOLE, Entry::RESERVED, taken, taken.prepare().unwrap()];
        for part in [false, true] {
            entries.extend((0..=512).map(|count| Entry::written(count, part)));
        }
        for (entry, frames) in entries.iter().flat_map(|&entry| [1, 2, 64, 511].map(|n| (entry, n)))
        {
            let enough = entry.count() >= frames;
            assert_eq!(EntryRange::any(frames).has(entry), enough, "{entry:?} {frames}");
            let partly = enough && entry.has_rows() && !entry.is_whole();
            assert_eq!(EntryRange::partly(frames).has(entry), partly, "{entry:?} {frames}");
            assert_eq!(EntryRange::any(512).has(entry), entry.is_whole());
        }
    }

    #[test]
    fn rows_are_written_by_one() {
        let taken = Entry::written(512, false).take_whole().unwrap();
        for entry in [Entry::WHOLE, Entry::RESERVED, taken] {
            let busy = entry.prepare().unwrap();
            assert!(busy.is_busy() && busy.is_part() == entry.is_part());
            assert_eq!((busy.prepare(), busy.promise(1), busy.raise(1)), (None, None, None));
            assert_eq!((busy.take_whole(), busy.put_whole(), busy.count()), (None, None, 0));
        }
        assert_eq!(Entry::written(9, true).prepare(), None);
    }
}
