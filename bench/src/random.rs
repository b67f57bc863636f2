//! Random numbers that are the same in every run.

/// Marsaglia's xorshift with 64 bits (2003).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`, which is above 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    /// Puts `values` into a random order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_all_and_moves_most() {
        let mut values: Vec<_> = (0..1000).collect();
        Random::new(1).shuffle(&mut values);
        assert!((0..).zip(&values).filter(|(place, value)| *place != **value).count() > 900);
        values.sort_unstable();
        assert!(values.into_iter().eq(0..1000));
    }
}
