//! "Repeat": a block allocated and freed at once, over and over.

use std::hint::black_box;
use std::time::Duration;

use super::take;
use crate::Peer;
use crate::threads::{Together, on_each, slowest};

/// Pairs of a thread: fewer of large blocks, which some peers search for long.
pub fn pairs(order: u8) -> u64 {
    if order < 9 { 20_000 } else { 1000 }
}

/// [`pairs`] on each thread.
pub fn pair<P: Peer>(peer: &P, order: u8, threads: usize) -> Duration {
    let together = Together::new(threads);
    let times = on_each(peer, threads, |_, local| {
        let work = || {
            for _ in 0..pairs(order) {
                let block = take(peer, local, black_box(order));
                peer.give(local, black_box(block));
            }
        };
        together.timed(work).0
    });
    slowest(times)
}
