//! Filling: single frames until 99 % of memory is taken.

use std::hint::black_box;
use std::time::Duration;

use super::take;
use crate::threads::{Together, on_each, slowest};
use crate::{FRAMES, Peer};

/// Pairs of each thread when memory is full.
pub const PAIRS_WHEN_FULL: u64 = 1000;

/// Frames that each thread takes.
pub fn fill_frames(threads: usize) -> u64 {
    FRAMES / 100 * 99 / threads as u64
}

/// The time of filling, and that of [`PAIRS_WHEN_FULL`] pairs when memory is full.
pub fn fill<P: Peer>(peer: &P, threads: usize) -> [Duration; 2] {
    let frames = fill_frames(threads);
    let together = Together::new(threads);
    let times = on_each(peer, threads, |_, local| {
        let mut held = Vec::with_capacity(frames as usize);
        let all = || (0..frames).for_each(|_| held.push(take(peer, local, black_box(0))));
        let (filling, ()) = together.timed(all);
        let (pairs, ()) = together.timed(|| {
            for _ in 0..PAIRS_WHEN_FULL {
                let block = take(peer, local, black_box(0));
                peer.give(local, black_box(block));
            }
        });
        held.into_iter().for_each(|block| peer.give(local, block));
        [filling, pairs]
    });
    [0, 1].map(|part| slowest(times.iter().map(|times| times[part])))
}
