//! Random free: blocks of all threads, shuffled among them, are freed by whoever has them then.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{bulk_blocks, take};
use crate::Peer;
use crate::random::Random;
use crate::threads::{Together, on_each, slowest};

/// [`bulk_blocks`] for each thread; the time of freeing.
pub fn random_free<P: Peer>(peer: &P, order: u8, threads: usize) -> Duration {
    let blocks = bulk_blocks(order, threads) as usize;
    let together = Together::new(threads);
    let own = on_each(peer, threads, |_, local| {
        (0..blocks).map(|_| take(peer, local, black_box(order))).collect::<Vec<_>>()
    });
    let mut all: Vec<_> = own.into_iter().flatten().collect();
    Random::new(threads as u64).shuffle(&mut all);
    let shares = (0..threads).map(|_| all.split_off(all.len().saturating_sub(blocks)));
    let shares = Mutex::new(shares.collect::<Vec<_>>());
    let times = on_each(peer, threads, |_, local| {
        let share = shares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let share = share.unwrap_or_default();
        together.timed(|| share.into_iter().for_each(|block| peer.give(local, block))).0
    });
    slowest(times)
}
