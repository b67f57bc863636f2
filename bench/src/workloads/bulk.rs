//! "Bulk": many blocks allocated, then all of them freed, the last first.

use std::hint::black_box;
use std::time::Duration;

use super::take;
use crate::threads::{Together, on_each, slowest};
use crate::{FRAMES, Peer};

/// Blocks that a thread has at once: 65536, or as many as fill half of memory with all threads.
pub fn bulk_blocks(order: u8, threads: usize) -> u64 {
    ((FRAMES / 2 / threads as u64) >> order).clamp(1, 65536)
}

/// The time of allocating and that of freeing.
pub fn bulk<P: Peer>(peer: &P, order: u8, threads: usize) -> [Duration; 2] {
    let blocks = bulk_blocks(order, threads);
    let together = Together::new(threads);
    let times = on_each(peer, threads, |_, local| {
        let mut held = Vec::with_capacity(blocks as usize);
        let (alloc, ()) = together.timed(|| {
            (0..blocks).for_each(|_| held.push(take(peer, local, black_box(order))));
        });
        let (free, ()) = together.timed(|| {
            while let Some(block) = held.pop() {
                peer.give(local, block);
            }
        });
        [alloc, free]
    });
    [0, 1].map(|part| slowest(times.iter().map(|times| times[part])))
}
