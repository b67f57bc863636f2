//! The distribution of single operations, each timed by itself.

use std::hint::black_box;
use std::time::Instant;

use super::{bulk_blocks, take};
use crate::Peer;
use crate::threads::{Together, on_each};

/// Quantiles of the time of one operation, in nanoseconds, reading the clock included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantiles {
    /// The median.
    pub p50: u32,
    /// 99 of 100 take no longer.
    pub p99: u32,
    /// 999 of 1000 take no longer.
    pub p999: u32,
}

impl Quantiles {
    fn of(mut times: Vec<u32>) -> Quantiles {
        times.sort_unstable();
        let at = |part: f64| {
            let place = (times.len() as f64 * part).ceil() as usize;
            times.get(place.saturating_sub(1)).copied().unwrap_or(0)
        };
        Quantiles { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
    }
}

/// Single frames, allocated in bulk and freed in bulk, so that whatever an operation has to do now
/// and then is in it.
pub fn latency<P: Peer>(peer: &P, threads: usize) -> Quantiles {
    let blocks = bulk_blocks(0, threads);
    let together = Together::new(threads);
    let times = on_each(peer, threads, |_, local| {
        let mut held = Vec::with_capacity(blocks as usize);
        let mut times = Vec::with_capacity(2 * blocks as usize);
        together.timed(|| ());
        for _ in 0..blocks {
            let begun = Instant::now();
            let block = take(peer, local, black_box(0));
            times.push(begun.elapsed().as_nanos() as u32);
            held.push(block);
        }
        while let Some(block) = held.pop() {
            let begun = Instant::now();
            peer.give(local, block);
            times.push(begun.elapsed().as_nanos() as u32);
        }
        times
    });
    Quantiles::of(times.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let thousand = (1..=1000).rev().collect();
        assert_eq!(Quantiles::of(thousand), Quantiles { p50: 500, p99: 990, p999: 999 });
        assert_eq!(Quantiles::of(vec![7]), Quantiles { p50: 7, p99: 7, p999: 7 });
        assert_eq!(Quantiles::of(vec![]), Quantiles { p50: 0, p99: 0, p999: 0 });
    }
}
