//! Many single frames near this CPU, with the token held: 65536 (256 MiB), fewer on a small machine.
//!
//! * `bulk_alloc`: per frame, when all are allocated.
//! * `bulk_free`: per frame, when they are freed, the last first.
//! * `random_free`: per frame, when they are freed in a shuffled order.

use alloc::vec::Vec;

use nearmem::alloc::FrameBlock;

use super::Figure;
use super::measure::{
    PAGE, bulk_pages, clear, clear_nothing, fill, fill_nothing, near, places, runs, ticks_of,
};
use crate::Kernel;

const RUNS: usize = 5;

pub(super) fn figures(kernel: &Kernel) -> Vec<Figure> {
    let memory = kernel.memory;
    let pages = bulk_pages(kernel, near(kernel), 1);
    let places = &mut places(pages)[..];

    let empty_alloc = runs(RUNS, |_| ticks_of(|| fill_nothing(places, &PAGE)));
    let empty_free = runs(RUNS, |_| ticks_of(|| clear_nothing(places)));
    // The first round only brings the steady state about.
    fill(memory, places, &PAGE);
    clear(memory, places);
    let (mut alloc, mut free, mut random) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        alloc.push(ticks_of(|| fill(memory, places, &PAGE)));
        free.push(ticks_of(|| clear(memory, places)));
    }
    for _ in 0..RUNS {
        fill(memory, places, &PAGE);
        shuffle(places);
        random.push(ticks_of(|| clear(memory, places)));
    }
    [
        Figure::median("bulk_alloc", pages, alloc, empty_alloc),
        Figure::median("bulk_free", pages, free, empty_free.clone()),
        Figure::median("random_free", pages, random, empty_free),
    ]
    .into()
}

/// Puts the blocks into a random order, the same in each boot.
pub(super) fn shuffle(places: &mut [Option<FrameBlock<'static>>]) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for last in (1..places.len()).rev() {
        // Marsaglia's xorshift, 2003.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        places.swap(last, (state % (last as u64 + 1)) as usize);
    }
}
