//! Ageing: how many whole 2 MiB blocks are left in memory that was used at random.

use super::take;
use crate::random::Random;
use crate::{FRAMES, Peer};

/// Orders above this are whole blocks.
const HUGE: u8 = 9;
/// Rounds of ageing.
const ROUNDS: usize = 100;

/// Whole free blocks of 2 MiB, as shares of all memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ageing {
    /// When half of the frames, chosen at random, are free.
    pub before: f64,
    /// After 100 rounds, each of which frees a tenth of what is taken, at random, and allocates as
    /// much.
    pub after: f64,
}

/// Fills memory with single frames, frees down to half of it at random, then ages it, on one CPU.
/// With half of the memory free the share can be 0.5 at most.
pub fn fragmentation<P: Peer>(peer: &P) -> Ageing {
    let mut random = Random::new(7);
    let mut held = peer.on_cpu(0, |local| {
        let mut held: Vec<_> = std::iter::from_fn(|| peer.take(local, 0)).collect();
        random.shuffle(&mut held);
        held.drain(FRAMES as usize / 2..).for_each(|block| peer.give(local, block));
        held
    });
    let before = share(peer);
    peer.on_cpu(0, |local| {
        for _ in 0..ROUNDS {
            random.shuffle(&mut held);
            let kept = held.len() - held.len() / 10;
            let freed = held.len() - kept;
            held.drain(kept..).for_each(|block| peer.give(local, block));
            held.extend((0..freed).map(|_| take(peer, local, 0)));
        }
    });
    let after = share(peer);
    peer.on_cpu(0, |local| held.into_iter().for_each(|block| peer.give(local, block)));
    Ageing { before, after }
}

/// The share of memory that can be had in whole blocks; they are given back.
fn share<P: Peer>(peer: &P) -> f64 {
    peer.settle();
    peer.on_cpu(0, |local| {
        let whole: Vec<_> = std::iter::from_fn(|| peer.take(local, HUGE)).collect();
        let frames = (whole.len() as u64) << HUGE;
        whole.into_iter().for_each(|block| peer.give(local, block));
        frames as f64 / FRAMES as f64
    })
}
