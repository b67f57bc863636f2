//! The control: work that threads do in private, so that what more threads cost by themselves (a
//! shared core, a clock that goes down) is known.

use std::hint::black_box;
use std::time::Duration;

use crate::peers::ArrayStack;
use crate::random::Random;
use crate::threads::{Together, on_each, slowest};

/// Steps of each thread.
pub const CONTROL_STEPS: u64 = 200_000;

/// Steps of arithmetic and of words in its own first-level cache.
pub fn control(threads: usize) -> Duration {
    let together = Together::new(threads);
    // The allocator is not used: it only says that a thread is a CPU.
    let times = on_each(&ArrayStack::new(), threads, |cpu, _| {
        let mut words = [0u64; 256];
        let mut random = Random::new(cpu as u64 + 1);
        let work = || {
            for _ in 0..CONTROL_STEPS {
                let number = random.number();
                words[number as usize % 256] = words[number as usize % 256].wrapping_add(number);
            }
            black_box(&mut words);
        };
        together.timed(work).0
    });
    slowest(times)
}
