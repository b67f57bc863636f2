//! `worst_order0`: the worst single allocation or free of a single frame, each counted by itself.
//!
//! Near this CPU, with the token held: 65536 frames (fewer on a small machine) allocated, freed in
//! a shuffled order, allocated again from what that left, and freed from the last to the first. All
//! of that twice, and the second time counts: first use is another figure, `worst_order0_cold`.
//! Refill and drain are in it; the pageset's limit is what decides how large they are.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use nearmem::alloc::FrameBlock;

use super::bulk::shuffle;
use super::measure::{PAGE, bulk_pages, free, near, places, runs, ticks_of};
use super::{Figure, Take};
use crate::{Kernel, Memory};

pub(super) fn figures(kernel: &Kernel) -> Vec<Figure> {
    let memory = kernel.memory;
    let places = &mut places(bulk_pages(kernel, near(kernel), 1))[..];
    let mut worst = 0;
    for _ in 0..2 {
        worst = fill(memory, places);
        shuffle(places);
        worst = worst.max(clear(memory, places));
        worst = worst.max(fill(memory, places));
        worst = worst.max(clear(memory, places));
    }
    let figure = Figure::median("worst_order0", 1, vec![worst], empty());
    vec![Figure { take: Take::Largest, ..figure }]
}

/// What counting nothing counts.
pub(super) fn empty() -> Vec<u64> {
    runs(5, |_| ticks_of(|| ()))
}

fn fill(memory: &Memory, places: &mut [Option<FrameBlock<'static>>]) -> u64 {
    let cpu = memory.pin();
    let mut worst = 0;
    for place in places {
        let ticks = ticks_of(|| *place = memory.try_alloc(&cpu, black_box(&PAGE)).ok());
        assert!(place.is_some(), "no frame for the benchmark");
        worst = worst.max(ticks);
    }
    worst
}

fn clear(memory: &Memory, places: &mut [Option<FrameBlock<'static>>]) -> u64 {
    let cpu = memory.pin();
    let mut worst = 0;
    for block in places.iter_mut().rev().filter_map(Option::take) {
        worst = worst.max(ticks_of(|| free(memory.try_free(&cpu, block))));
    }
    worst
}
