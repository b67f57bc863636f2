//! What was measured, by workload, allocator and number of threads.

use std::collections::BTreeMap;

/// What a time belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The workload, as `pair, order 0`.
    pub workload: String,
    /// The allocator.
    pub peer: &'static str,
    /// How many threads.
    pub threads: usize,
}

/// Times of one operation, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Results(BTreeMap<Key, Vec<f64>>);

impl Results {
    /// Adds the time of one round.
    pub fn add(&mut self, workload: &str, peer: &'static str, threads: usize, nanoseconds: f64) {
        let key = Key { workload: workload.into(), peer, threads };
        self.0.entry(key).or_default().push(nanoseconds);
    }

    /// The time that counts.
    pub fn get(&self, workload: &str, peer: &'static str, threads: usize) -> Option<f64> {
        self.0.get_key_value(&Key { workload: workload.into(), peer, threads }).and_then(of_rounds)
    }

    /// All that there is, in the order of workload, allocator, threads.
    pub fn all(&self) -> impl Iterator<Item = (&Key, f64)> {
        self.0.iter().filter_map(|row| Some((row.0, of_rounds(row)?)))
    }
}

/// Of one thread the best round: what a busy host adds is never negative. Of several the median: the
/// best would be one in which they missed each other.
fn of_rounds((key, rounds): (&Key, &Vec<f64>)) -> Option<f64> {
    let mut rounds = rounds.clone();
    rounds.sort_unstable_by(f64::total_cmp);
    let place = if key.threads == 1 { 0 } else { rounds.len() / 2 };
    rounds.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_one_thread_and_the_median_of_several() {
        let mut results = Results::default();
        assert_eq!(results.get("w", "p", 1), None);
        for time in [7.0, 5.5, 60.0] {
            results.add("w", "p", 1, time);
            results.add("w", "p", 2, time);
        }
        assert_eq!(results.get("w", "p", 1), Some(5.5));
        assert_eq!(results.get("w", "p", 2), Some(7.0));
        assert_eq!(results.all().count(), 2);
    }
}
