//! Pairs of one order-0 allocation and its free, in the steady state: each is served by the
//! pageset.

use core::hint::black_box;

use nearmem::alloc::{LocalCpu, Policy, Request};
use nearmem::{NodeId, Order};
use nearmem_x86_64::{X86Platform, clock, marker, println};

use super::Ends;
use super::region::{Region, Role};
use crate::{Kernel, Memory};

/// Pairs of a region.
const TIMES: u64 = 1000;

/// A way through a region.
struct Way {
    pairs: u64,
    ticks: u64,
}

/// Runs the pairs on this CPU: with its token held all the time, and with the token taken anew for
/// every allocation and every free.
pub(super) fn run(kernel: &Kernel, ends: &Ends) -> impl Iterator<Item = Region> {
    let Ends { cpu, own, other } = *ends;
    let memory = kernel.memory;
    let local = Request::new(Order::ZERO);
    let region = move |id, name, node, ticks, role| Region {
        id,
        cpu,
        name,
        node,
        times: TIMES,
        ticks,
        role,
    };
    let pair = move |id, name, node, ticks| region(id, name, node, ticks, Role::Pair);

    let loops = region(10, "loop without pairs", own, empty::<10>(&local), Role::Loop);
    let near = [
        served(memory, own, || held::<11>(memory, &memory.pin(), &local))
            .map(|ticks| pair(11, "pair, own node, token held", own, ticks)),
        served(memory, own, || guarded::<12>(memory, &local))
            .map(|ticks| pair(12, "pair, own node, token taken", own, ticks)),
    ];
    let far = other.map(|node| {
        let remote = local.on(Policy::Preferred(node));
        [
            served(memory, node, || held::<13>(memory, &memory.pin(), &remote))
                .map(|ticks| pair(13, "pair, other node, token held", node, ticks)),
            served(memory, node, || guarded::<14>(memory, &remote))
                .map(|ticks| pair(14, "pair, other node, token taken", node, ticks)),
        ]
    });
    [loops].into_iter().chain(near.into_iter().chain(far.into_iter().flatten()).flatten())
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

/// Runs pairs, and gives their ticks if this node served all of them.
fn served(memory: &Memory, node: NodeId, pairs: impl Fn() -> Way) -> Option<u64> {
    let hits = || memory.node_counters(node).hit;
    let before = hits();
    let Way { pairs, ticks } = pairs();
    let all = pairs == TIMES && hits() - before == TIMES;
    if !all {
        println!("locality: node {node} did not serve {TIMES} pairs: no figures for it");
    }
    all.then_some(ticks)
}

/// The loop with nothing in it; says its ticks.
#[inline(never)]
fn empty<const REGION: u8>(request: &Request<'_>) -> u64 {
    let start = clock::ticks();
    marker::begin::<REGION>();
    for _ in 0..TIMES {
        black_box(request);
    }
    marker::end::<REGION>();
    clock::ticks() - start
}

/// The public request path with the token held.
#[inline(never)]
fn held<const REGION: u8>(
    memory: &Memory,
    cpu: &LocalCpu<'static, X86Platform>,
    request: &Request<'_>,
) -> Way {
    let mut pairs = 0;
    let start = clock::ticks();
    marker::begin::<REGION>();
    for _ in 0..TIMES {
        if let Ok(block) = memory.try_alloc(cpu, black_box(request)) {
            pairs += u64::from(memory.try_free(cpu, block).is_ok());
        }
    }
    marker::end::<REGION>();
    Way { pairs, ticks: clock::ticks() - start }
}

/// The same with the entries that take the token themselves.
#[inline(never)]
fn guarded<const REGION: u8>(memory: &Memory, request: &Request<'_>) -> Way {
    let mut pairs = 0;
    let start = clock::ticks();
    marker::begin::<REGION>();
    for _ in 0..TIMES {
        if let Ok(block) = memory.alloc(black_box(request)) {
            pairs += u64::from(memory.free(block).is_ok());
        }
    }
    marker::end::<REGION>();
    Way { pairs, ticks: clock::ticks() - start }
}
