//! Where the lowest region is that has room in partly free blocks: so that small blocks gather at
//! the lower end, and what empties above stays whole.
#![forbid(unsafe_code)]

use super::region::RegionWord;
use crate::sync::{AtomicU64, Ordering::Relaxed};

/// With fewer free frames than this in partly free blocks a region is left alone as long as there
/// are others.
pub(super) const AMPLE: u32 = 64;

/// No region below it has [`AMPLE`] frames in partly free blocks, as far as is known. A hint: CPUs
/// that lower and raise it at once can leave it too high, until a frame is freed below it.
pub(super) struct Lowest(AtomicU64);

impl Lowest {
    /// The lowest region there is.
    pub(super) fn new() -> Lowest {
        Lowest(AtomicU64::new(0))
    }

    /// Area and region.
    pub(super) fn get(&self) -> (usize, usize) {
        // Relaxed, as all of it: a hint.
        let word = self.0.load(Relaxed);
        ((word >> 32) as usize, word as u32 as usize)
    }

    /// Searches found nothing below this region. Its word is left alone where it says so already.
    pub(super) fn raise(&self, area: usize, region: usize) {
        let word = place(area, region);
        if self.0.load(Relaxed) != word {
            self.0.store(word, Relaxed);
        }
    }

    /// A region has more free frames than before. Its `word` is asked for where it matters.
    #[inline]
    pub(super) fn lower(&self, area: usize, region: usize, word: impl Fn() -> RegionWord) {
        let place = place(area, region);
        if place < self.0.load(Relaxed) && word().partial() >= AMPLE {
            self.0.store(place, Relaxed);
        }
    }
}

const fn place(area: usize, region: usize) -> u64 {
    (area as u64) << 32 | region as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lower_region_with_room_lowers_it() {
        let lowest = Lowest::new();
        assert_eq!(lowest.get(), (0, 0));
        lowest.raise(1, 7);
        lowest.lower(1, 8, || RegionWord::new(16000, 0));
        lowest.lower(0, 9, || RegionWord::new(AMPLE - 1, 0));
        lowest.lower(0, 9, || RegionWord::new(1024 + AMPLE - 1, 2));
        assert_eq!(lowest.get(), (1, 7));
        lowest.lower(0, 9, || RegionWord::new(1024 + AMPLE, 2));
        assert_eq!(lowest.get(), (0, 9));
    }
}
