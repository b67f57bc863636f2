//! Producer and consumer: one thread allocates, another frees what it gets from the first.

use std::hint::black_box;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::take;
use crate::Peer;
use crate::threads::{Together, on_each, slowest};

/// Single frames that go from a producer to its consumer.
pub const EXCHANGED: u64 = 65536;
/// Blocks that go at once, so that the channel's price is shared.
const BATCH: u64 = 256;
/// Batches on their way.
const ON_THE_WAY: usize = 8;

/// Batches to the consumer and, emptied, back.
struct Link<B> {
    full: (SyncSender<Vec<B>>, Receiver<Vec<B>>),
    empty: (SyncSender<Vec<B>>, Receiver<Vec<B>>),
}

/// Threads are paired, an odd one is left out.
pub fn exchange<P: Peer>(peer: &P, threads: usize) -> Duration {
    let pairs = threads / 2;
    let together = Together::new(pairs * 2);
    let link = || Link { full: sync_channel(ON_THE_WAY), empty: sync_channel(ON_THE_WAY) };
    let links: Vec<Link<P::Block>> = (0..pairs).map(|_| link()).collect();
    let (mut producers, mut consumers) = (Vec::new(), Vec::new());
    for Link { full, empty } in links {
        for _ in 0..ON_THE_WAY {
            empty.0.send(Vec::with_capacity(BATCH as usize)).expect("both ends are here");
        }
        producers.push((full.0, empty.1));
        consumers.push((empty.0, full.1));
    }
    let ends: Vec<_> = producers.into_iter().chain(consumers).map(Some).collect();
    let ends = Mutex::new(ends);
    let batches = EXCHANGED / BATCH;
    let times = on_each(peer, pairs * 2, |cpu, local| {
        let end = ends.lock().unwrap_or_else(PoisonError::into_inner)[cpu].take();
        let (send, receive) = end.expect("an end for each thread");
        let produce = || {
            for _ in 0..batches {
                let Ok(mut batch) = receive.recv() else { return };
                batch.extend((0..BATCH).map(|_| take(peer, local, black_box(0))));
                if send.send(batch).is_err() {
                    return;
                }
            }
        };
        let consume = || {
            for _ in 0..batches {
                let Ok(mut batch) = receive.recv() else { return };
                batch.drain(..).for_each(|block| peer.give(local, block));
                // The producer has gone when it needs no more.
                let _ = send.send(batch);
            }
        };
        if cpu < pairs { together.timed(produce).0 } else { together.timed(consume).0 }
    });
    slowest(times)
}
