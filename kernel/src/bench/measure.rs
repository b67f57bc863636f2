//! Counting, and what several workloads need.

use alloc::vec::Vec;
use core::hint::black_box;

use nearmem::alloc::{FrameBlock, Request};
use nearmem::{NodeId, Order};
use nearmem_x86_64::clock::ticks;

use crate::{Kernel, Memory};

/// A single frame near this CPU.
pub const PAGE: Request<'static> = Request::new(Order::ZERO);
/// Frames of a bulk: 256 MiB, as many as Linux was measured with.
const BULK: u64 = 65536;

/// Ticks that `work` takes.
#[inline(always)]
pub fn ticks_of(work: impl FnOnce()) -> u64 {
    let before = ticks();
    work();
    ticks() - before
}

/// Runs `work` so many times and keeps what it counted.
pub fn runs(count: usize, work: impl FnMut(usize) -> u64) -> Vec<u64> {
    (0..count).map(work).collect()
}

/// Places for blocks, all empty. With an item that the heap has in one piece: `count` is at most
/// 65536, which take 2 MiB.
pub fn places(count: u64) -> Vec<Option<FrameBlock<'static>>> {
    (0..count).map(|_| None).collect()
}

/// Fills every place by the public path, with the token held.
#[inline(never)]
pub fn fill(memory: &Memory, places: &mut [Option<FrameBlock<'static>>], request: &Request<'_>) {
    let cpu = memory.pin();
    for place in places {
        match memory.try_alloc(&cpu, black_box(request)) {
            Ok(block) => *place = Some(block),
            Err(error) => panic!("no frame for the benchmark: {error}"),
        }
    }
}

/// Frees every place, the last one first, likewise.
#[inline(never)]
pub fn clear(memory: &Memory, places: &mut [Option<FrameBlock<'static>>]) {
    let cpu = memory.pin();
    for place in places.iter_mut().rev() {
        if let Some(block) = place.take() {
            free(memory.try_free(&cpu, block));
        }
    }
}

/// What [`fill`] costs without the allocation.
#[inline(never)]
pub fn fill_nothing(places: &mut [Option<FrameBlock<'static>>], request: &Request<'_>) {
    for place in places {
        black_box(request);
        *place = black_box(None);
    }
}

/// What [`clear`] costs without the free.
#[inline(never)]
pub fn clear_nothing(places: &mut [Option<FrameBlock<'static>>]) {
    for place in places.iter_mut().rev() {
        black_box(place.take());
    }
}

/// A free that has to succeed.
#[inline(always)]
pub fn free<E: core::fmt::Display>(result: Result<(), E>) {
    if let Err(error) = result {
        panic!("the benchmark's frame was not taken back: {error}");
    }
}

/// This CPU's node, or the nearest with memory.
pub fn near(kernel: &Kernel) -> NodeId {
    let node = kernel.memory.pin().node();
    let with_memory = kernel.map.with_memory();
    let order = kernel.memory.fallback_order(node);
    order.iter().copied().find(|&node| with_memory.contains(node)).unwrap_or(node)
}

/// Frames for each of `parts` bulks of a node: 65536, less where half of its free frames are fewer.
pub fn bulk_pages(kernel: &Kernel, node: NodeId, parts: u64) -> u64 {
    let zones = kernel.memory.zones().iter().filter(|zone| zone.id().node == node);
    let free = zones.map(|zone| zone.free()).max().unwrap_or(0);
    BULK.min(free / 2 / parts)
}
