//! Pairs of one order-0 allocation and its free, in the steady state: each is served by the
//! pageset.

use core::hint::black_box;

use nearmem::alloc::{LocalCpu, Policy, Request};
use nearmem::{NodeId, Order};
use nearmem_x86_64::{X86Platform, marker, println};

use super::Ends;
use super::region::{Region, Role};
use crate::{Kernel, Memory};

/// Pairs of a region.
const TIMES: u64 = 1000;

/// Runs the pairs on this CPU: with its token held all the time, and with the token taken anew for
/// every allocation and every free.
pub(super) fn run(kernel: &Kernel, ends: &Ends) -> impl Iterator<Item = Region> {
    let Ends { cpu, own, other } = *ends;
    let memory = kernel.memory;
    let local = Request::new(Order::ZERO);
    let remote = |node| local.on(Policy::Preferred(node));
    let region = move |id, name, node, role| Region { id, cpu, name, node, times: TIMES, role };
    let pair = move |id, name, node| region(id, name, node, Role::Pair);

    empty::<10>(&local);
    let pairs = [
        served(memory, own, || held::<11>(memory, &memory.pin(), &local))
            .then(|| pair(11, "pair, own node, token held", own)),
        served(memory, own, || guarded::<12>(memory, &local))
            .then(|| pair(12, "pair, own node, token taken", own)),
        other
            .filter(|&node| {
                served(memory, node, || held::<13>(memory, &memory.pin(), &remote(node)))
            })
            .map(|node| pair(13, "pair, other node, token held", node)),
        other
            .filter(|&node| served(memory, node, || guarded::<14>(memory, &remote(node))))
            .map(|node| pair(14, "pair, other node, token taken", node)),
    ];
    [region(10, "loop without pairs", own, Role::Loop)].into_iter().chain(pairs.into_iter().flatten())
}

/// Fills this CPU's pagesets: the pairs find a frame there.
pub(super) fn warm_up(kernel: &Kernel, ends: &Ends) {
    for node in [Some(ends.own), ends.other].into_iter().flatten() {
        let request = Request::new(Order::ZERO).on(Policy::Preferred(node));
        if let Ok(block) = kernel.memory.alloc(&request) {
            // Cannot fail: the block is of this subsystem.
            let _ = kernel.memory.free(block);
        }
    }
}

/// Runs pairs; says whether this node served all of them.
fn served(memory: &Memory, node: NodeId, pairs: impl Fn() -> u64) -> bool {
    let hits = || memory.node_counters(node).hit;
    let before = hits();
    let done = pairs();
    let all = done == TIMES && hits() - before == TIMES;
    if !all {
        println!("locality: node {node} did not serve {TIMES} pairs: no figures for it");
    }
    all
}

/// The loop with nothing in it.
#[inline(never)]
fn empty<const REGION: u8>(request: &Request<'_>) {
    marker::begin::<REGION>();
    for _ in 0..TIMES {
        black_box(request);
    }
    marker::end::<REGION>();
}

/// The public request path with the token held; says how many pairs there were.
#[inline(never)]
fn held<const REGION: u8>(
    memory: &Memory,
    cpu: &LocalCpu<'static, X86Platform>,
    request: &Request<'_>,
) -> u64 {
    let mut done = 0;
    marker::begin::<REGION>();
    for _ in 0..TIMES {
        if let Ok(block) = memory.try_alloc(cpu, black_box(request)) {
            done += u64::from(memory.try_free(cpu, block).is_ok());
        }
    }
    marker::end::<REGION>();
    done
}

/// The same with the entries that take the token themselves.
#[inline(never)]
fn guarded<const REGION: u8>(memory: &Memory, request: &Request<'_>) -> u64 {
    let mut done = 0;
    marker::begin::<REGION>();
    for _ in 0..TIMES {
        if let Ok(block) = memory.alloc(black_box(request)) {
            done += u64::from(memory.free(block).is_ok());
        }
    }
    marker::end::<REGION>();
    done
}
