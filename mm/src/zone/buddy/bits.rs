//! A bitmap that finds its lowest set bit in a few steps.

use crate::zone::RawMemory;

/// The most levels that 2^64 bits need, 64 to one.
const MAX_LEVELS: usize = 11;

/// Bits, and above them levels of summary bits: a bit of one level is set when the word below it
/// is not 0. The levels lie one after the other, the bits themselves first, up to a level of one
/// word.
#[derive(Debug)]
pub(super) struct Bits<'m> {
    words: &'m mut [u64],
    bits: u64,
}

/// Words of all levels.
pub(super) const fn words_for(bits: u64) -> u64 {
    let mut words = 0;
    let mut level = bits.div_ceil(64);
    while level > 1 {
        words += level;
        level = level.div_ceil(64);
    }
    words + level
}

impl<'m> Bits<'m> {
    /// No bits at all.
    pub(super) fn empty() -> Bits<'m> {
        Bits { words: &mut [], bits: 0 }
    }

    /// `bits` bits, all clear. `None` when the memory does not suffice.
    pub(super) fn new(bits: u64, memory: &mut RawMemory<'m>) -> Option<Bits<'m>> {
        Some(Bits { words: memory.slice(words_for(bits), |_| Some(0))?, bits })
    }

    /// Whether a bit is set; false beyond the end.
    pub(super) fn get(&self, bit: u64) -> bool {
        bit < self.bits && self.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    /// Sets a bit, which is within the bitmap.
    pub(super) fn set(&mut self, bit: u64) {
        let mut at = bit;
        for (base, last) in levels(self.bits) {
            let word = &mut self.words[base + (at / 64) as usize];
            let before = *word;
            *word |= 1 << (at % 64);
            if last || before != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// Clears a bit, which is within the bitmap.
    pub(super) fn clear(&mut self, bit: u64) {
        let mut at = bit;
        for (base, last) in levels(self.bits) {
            let word = &mut self.words[base + (at / 64) as usize];
            *word &= !(1 << (at % 64));
            if last || *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The lowest set bit: one word of each level is read.
    pub(super) fn first(&self) -> Option<u64> {
        let mut bases = [0; MAX_LEVELS];
        let mut count = 0;
        for (slot, (base, _)) in bases.iter_mut().zip(levels(self.bits)) {
            *slot = base;
            count += 1;
        }
        let mut at = 0;
        for &base in bases[..count].iter().rev() {
            let word = self.words[base + at as usize];
            if word == 0 {
                return None;
            }
            at = at * 64 + u64::from(word.trailing_zeros());
        }
        (count > 0).then_some(at)
    }

    /// The lowest set bit of `from..to`, by looking at every word between.
    pub(super) fn first_in(&self, from: u64, to: u64) -> Option<u64> {
        let to = to.min(self.bits);
        let mut at = from;
        while at < to {
            let word = self.words[(at / 64) as usize] >> (at % 64);
            if word != 0 {
                let found = at + u64::from(word.trailing_zeros());
                return (found < to).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }
}

/// For each level, the bits first: where its words begin, and whether it is the last.
fn levels(bits: u64) -> impl Iterator<Item = (usize, bool)> {
    let mut base = 0;
    let mut below = bits;
    core::iter::from_fn(move || {
        let words = below.div_ceil(64);
        if words == 0 {
            return None;
        }
        let level = (base, words == 1);
        base += words as usize;
        below = if words == 1 { 0 } else { words };
        Some(level)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `test` with a bitmap in memory that holds garbage.
    fn with_bits(bits: u64, test: impl FnOnce(&mut Bits<'_>)) {
        let mut memory = std::vec![0xa5a5_a5a5_a5a5_a5a5_u64; words_for(bits) as usize + 16];
        let bytes = memory.len() as u64 * 8;
        // SAFETY: the vector is used by nothing else while the bitmap lives.
        let mut raw = unsafe { RawMemory::new(memory.as_mut_ptr().cast(), bytes) };
        test(&mut Bits::new(bits, &mut raw).unwrap());
    }

    #[test]
    fn levels_add_up() {
        assert_eq!(words_for(0), 0);
        assert_eq!(words_for(1), 1);
        assert_eq!(words_for(64), 1);
        assert_eq!(words_for(65), 2 + 1);
        assert_eq!(words_for(4096), 64 + 1);
        assert_eq!(words_for(4097), 65 + 2 + 1);
        assert_eq!(
            words_for(1 << 40),
            (1 << 34) + (1 << 28) + (1 << 22) + (1 << 16) + 1024 + 16 + 1
        );
        assert!(levels(u64::MAX).count() <= MAX_LEVELS);
    }

    #[test]
    fn the_lowest_bit_is_found_at_every_size() {
        for bits in [1, 63, 64, 65, 4096, 4097, 70_000] {
            with_bits(bits, |map| {
                assert_eq!(map.first(), None);
                let places: std::vec::Vec<u64> =
                    [bits - 1, bits / 2, bits / 3, 0].into_iter().collect();
                for &place in &places {
                    map.set(place);
                    assert!(map.get(place));
                    assert_eq!(map.first(), Some(place), "of {bits}");
                }
                for &place in places.iter().rev() {
                    assert_eq!(map.first_in(0, bits), map.first());
                    map.clear(place);
                    assert!(!map.get(place));
                    assert_ne!(map.first(), Some(place));
                }
                assert_eq!(map.first(), None);
                assert_eq!(map.first_in(0, u64::MAX), None);
                assert!(!map.get(bits));
            });
        }
    }

    #[test]
    fn a_search_keeps_to_its_range() {
        with_bits(300, |map| {
            map.set(5);
            map.set(200);
            assert_eq!(map.first_in(6, 200), None);
            assert_eq!(map.first_in(6, 201), Some(200));
            assert_eq!(map.first_in(5, 6), Some(5));
            assert_eq!(map.first_in(201, 300), None);
        });
    }
}
