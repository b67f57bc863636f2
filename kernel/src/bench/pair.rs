//! Pairs: one block allocated and freed at once, 1000 times a run, in the steady state.
//!
//! * `order0_pair`: near this CPU, with the token held (`try_alloc`, `try_free`).
//! * `order0_pair_flat`: the same on a machine whose memory is one node.
//! * `order0_pair_guarded`: the same by `alloc` and `free`, each of which takes the token.
//! * `order0_pair_remote`: as `order0_pair`, from the nearest other node (`Policy::Preferred`).
//! * `order4_pair`, `order9_pair`, `order10_pair`: as `order0_pair`.

use alloc::vec::Vec;
use core::hint::black_box;

use nearmem::Order;
use nearmem::alloc::{FrameBlock, Policy, Request};

use super::Figure;
use super::measure::{PAGE, free, near, runs, ticks_of};
use crate::{Kernel, Memory};

const PAIRS: u64 = 1000;
const RUNS: usize = 21;

pub(super) fn local(kernel: &Kernel) -> Vec<Figure> {
    [with_token("order0_pair", kernel.memory, &PAGE)].into()
}

pub(super) fn flat(kernel: &Kernel) -> Vec<Figure> {
    let flat = kernel.map.with_memory().len() == 1;
    flat.then(|| with_token("order0_pair_flat", kernel.memory, &PAGE)).into_iter().collect()
}

pub(super) fn remote(kernel: &Kernel) -> Vec<Figure> {
    let here = near(kernel);
    let nodes = kernel.memory.fallback_order(here).iter();
    let Some(&other) = nodes.into_iter().find(|&&node| node != here) else { return Vec::new() };
    let request = PAGE.on(Policy::Preferred(other));
    let block = kernel.memory.alloc(&request);
    let served = block.as_ref().map(|block| block.zone().node);
    assert_eq!(served, Ok(other), "a remote pair is served by another node");
    block.into_iter().for_each(|block| free(kernel.memory.free(block)));
    [with_token("order0_pair_remote", kernel.memory, &request)].into()
}

pub(super) fn order4(kernel: &Kernel) -> Vec<Figure> {
    large("order4_pair", kernel, 4)
}

pub(super) fn order9(kernel: &Kernel) -> Vec<Figure> {
    large("order9_pair", kernel, 9)
}

pub(super) fn order10(kernel: &Kernel) -> Vec<Figure> {
    large("order10_pair", kernel, 10)
}

pub(super) fn guarded(kernel: &Kernel) -> Vec<Figure> {
    let memory = kernel.memory;
    let count = |_| ticks_of(|| each_guarded(memory, &PAGE));
    [Figure::median("order0_pair_guarded", PAIRS, runs(RUNS, count), empty(&PAGE))].into()
}

fn large(name: &'static str, kernel: &Kernel, order: u8) -> Vec<Figure> {
    let order = Order::new(order).into_iter();
    order.map(|order| with_token(name, kernel.memory, &Request::new(order))).collect()
}

fn with_token(name: &'static str, memory: &Memory, request: &Request<'_>) -> Figure {
    let count = |_| ticks_of(|| each_with_token(memory, request));
    Figure::median(name, PAIRS, runs(RUNS, count), empty(request))
}

fn empty(request: &Request<'_>) -> Vec<u64> {
    runs(RUNS, |_| ticks_of(|| each_empty(request)))
}

#[inline(never)]
fn each_with_token(memory: &Memory, request: &Request<'_>) {
    let cpu = memory.pin();
    for _ in 0..PAIRS {
        match memory.try_alloc(&cpu, black_box(request)) {
            Ok(block) => {
                black_box(&block);
                free(memory.try_free(&cpu, block));
            }
            Err(error) => panic!("no block for the benchmark: {error}"),
        }
    }
}

#[inline(never)]
fn each_guarded(memory: &Memory, request: &Request<'_>) {
    for _ in 0..PAIRS {
        match memory.alloc(black_box(request)) {
            Ok(block) => {
                black_box(&block);
                free(memory.free(block));
            }
            Err(error) => panic!("no block for the benchmark: {error}"),
        }
    }
}

#[inline(never)]
fn each_empty(request: &Request<'_>) {
    let block: Option<FrameBlock<'_>> = None;
    for _ in 0..PAIRS {
        black_box(request);
        black_box(&block);
    }
}
