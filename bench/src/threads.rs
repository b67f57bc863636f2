//! Threads that begin together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Peer;

/// Runs `work` on that many threads, as CPUs from 0 on, and gives what each returned. With one it
/// is the caller's own.
pub fn on_each<P: Peer, R: Send>(
    peer: &P,
    threads: usize,
    work: impl Fn(usize, &P::Local<'_>) -> R + Sync,
) -> Vec<R> {
    if threads == 1 {
        return vec![peer.on_cpu(0, |local| work(0, local))];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let start = |cpu| scope.spawn(move || peer.on_cpu(cpu, |local| work(cpu, local)));
        let all: Vec<_> = (0..threads).map(start).collect();
        all.into_iter().map(|thread| thread.join().expect("a workload's thread")).collect()
    })
}

/// Where threads wait for each other, awake: one that has to be woken would come late.
pub struct Together {
    threads: usize,
    arrived: AtomicUsize,
}

impl Together {
    /// For so many threads.
    pub fn new(threads: usize) -> Together {
        Together { threads, arrived: AtomicUsize::new(0) }
    }

    /// Waits for the other threads, then times `work`.
    pub fn timed<R>(&self, work: impl FnOnce() -> R) -> (Duration, R) {
        let ticket = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = (ticket / self.threads + 1) * self.threads;
        while self.arrived.load(Ordering::Acquire) < all {
            std::thread::yield_now();
        }
        let begun = Instant::now();
        let result = work();
        (begun.elapsed(), result)
    }
}

/// The time of the slowest thread.
pub fn slowest(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::ArrayStack;

    #[test]
    fn nobody_begins_before_all_have_come() {
        let together = Together::new(3);
        let before = AtomicUsize::new(0);
        let seen = on_each(&ArrayStack::new(), 3, |_, _| {
            [0, 1].map(|_| {
                before.fetch_add(1, Ordering::SeqCst);
                together.timed(|| before.load(Ordering::SeqCst)).1
            })
        });
        assert_eq!(before.into_inner(), 6);
        assert!(seen.iter().all(|[first, second]| *first >= 3 && *second == 6), "{seen:?}");
    }
}
