//! Single frames from memory that nobody has touched: what first use costs.
//!
//! * `cold_alloc`: per frame, 65536 at a time (fewer on a small machine), with the token held. They
//!   come from the last node and are kept until all runs are through, so that no run sees a
//!   section that an earlier one has initialised.
//! * `worst_order0_cold`: the worst single allocation of as many more.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use nearmem::NodeId;
use nearmem::alloc::{Policy, Request};

use super::measure::{
    PAGE, bulk_pages, clear, fill, fill_nothing, free, near, places, runs, ticks_of,
};
use super::worst::empty;
use super::{Figure, Take};
use crate::Kernel;

const RUNS: usize = 3;
/// Of the node's memory both workloads together take at most half.
const PARTS: u64 = RUNS as u64 + 1;

pub(super) fn alloc(kernel: &Kernel) -> Vec<Figure> {
    let (node, request) = last_node(kernel);
    let pages = bulk_pages(kernel, node, PARTS);
    let mut held: Vec<_> = (0..RUNS).map(|_| places(pages)).collect();
    let empty = runs(RUNS, |run| ticks_of(|| fill_nothing(&mut held[run], &request)));
    let counts = runs(RUNS, |run| ticks_of(|| fill(kernel.memory, &mut held[run], &request)));
    held.iter_mut().for_each(|places| clear(kernel.memory, places));
    vec![Figure::median("cold_alloc", pages, counts, empty)]
}

pub(super) fn worst(kernel: &Kernel) -> Vec<Figure> {
    let (node, request) = last_node(kernel);
    let pages = bulk_pages(kernel, node, PARTS);
    // What the other workload has touched is taken first, and kept.
    let mut touched: Vec<_> = (0..RUNS).map(|_| places(pages)).collect();
    touched.iter_mut().for_each(|places| fill(kernel.memory, places, &request));
    let mut held = places(pages);
    let cpu = kernel.memory.pin();
    let mut worst = 0;
    for place in &mut held {
        let ticks = ticks_of(|| *place = kernel.memory.try_alloc(&cpu, black_box(&request)).ok());
        worst = worst.max(ticks);
    }
    assert!(held.iter().all(Option::is_some), "memory that nobody has touched is there");
    held.iter_mut().flat_map(Option::take).for_each(|block| free(kernel.memory.free(block)));
    drop(cpu);
    touched.iter_mut().for_each(|places| clear(kernel.memory, places));
    let name = "worst_order0_cold";
    vec![Figure { take: Take::Largest, ..Figure::median(name, 1, vec![worst], empty()) }]
}

/// The node that boot and the other workloads have touched least, and a request to it.
fn last_node(kernel: &Kernel) -> (NodeId, Request<'static>) {
    let last = kernel.map.with_memory().iter().last().unwrap_or(near(kernel));
    (last, PAGE.on(Policy::Preferred(last)))
}
