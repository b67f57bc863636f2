//! What several suites need.

use alloc::vec::Vec;

use nearmem::alloc::{FrameBlock, Policy, Request};
use nearmem::platform::CpuToken;
use nearmem::{CpuId, NodeId, NodeSet, Order};
use nearmem_kernel::{Kernel, Memory, cpus};

/// Calls `f` with the proof that this CPU runs it with interrupts off.
pub fn with_token<R>(kernel: &Kernel, f: impl FnOnce(&CpuToken) -> R) -> R {
    f(kernel.memory.pin().token())
}

/// A block of one node, or none.
pub fn take_from(
    memory: &'static Memory,
    node: NodeId,
    order: Order,
) -> Option<FrameBlock<'static>> {
    let only = NodeSet::of(node);
    memory.alloc(&Request::new(order).on(Policy::Bind(&only))).ok()
}

/// Frees a block that has to be accepted.
pub fn give_back(memory: &Memory, block: FrameBlock<'static>) {
    let (pfn, order) = (block.pfn(), block.order());
    if let Err(error) = memory.free(block) {
        panic!("frame {:#x} of order {} was not taken back: {error}", pfn.0, order.get());
    }
}

/// Free frames of a node, all pagesets emptied.
pub fn free_frames(memory: &Memory, node: NodeId) -> u64 {
    memory.drain_all();
    memory.zones().iter().filter(|zone| zone.id().node == node).map(|zone| zone.free()).sum()
}

/// The node itself, or the nearest one that has memory.
pub fn nearest_with_memory(kernel: &Kernel, node: NodeId) -> NodeId {
    let mut order = kernel.memory.fallback_order(node).iter().copied();
    order.find(|&node| kernel.map.with_memory().contains(node)).expect("a node with memory")
}

/// The words of a block, to read and write while the block is held.
pub fn words<'a>(memory: &Memory, block: &'a mut FrameBlock<'static>) -> &'a mut [u64] {
    let pointer = block.as_ptr(memory.platform()).cast::<u64>();
    let count = block.order().bytes() as usize / size_of::<u64>();
    // SAFETY: the block is RAM, and whoever holds it, here by a unique borrow, is the only one to
    // use it. A frame is aligned for words, and any bytes are words.
    unsafe { core::slice::from_raw_parts_mut(pointer, count) }
}

/// Free frames of all nodes, all pagesets emptied.
pub fn all_free_frames(kernel: &Kernel) -> u64 {
    kernel.memory.drain_all();
    kernel.memory.zones().iter().map(|zone| zone.free()).sum()
}

/// Up to 8 of the CPUs that are up, from all nodes: for what has all CPUs wait for each other again
/// and again, which takes its time where the host has few.
pub fn some_cpus(kernel: &Kernel) -> Vec<CpuId> {
    const MOST: usize = 8;
    let all = cpus::online(kernel.memory);
    all.iter().copied().step_by(all.len().div_ceil(MOST)).collect()
}

/// Free frames of each zone, all pagesets emptied.
pub fn free_by_zone(kernel: &Kernel) -> Vec<u64> {
    kernel.memory.drain_all();
    kernel.memory.zones().iter().map(|zone| zone.free()).collect()
}

/// How interleaved vmalloc spreads 4 KiB pages over nodes, beginning with the lowest: in steps of
/// 100 pages, of which each node gets an equal run, the first ones a page more where it does not
/// come out even (reference: large-system-hash, section 4).
pub fn runs(pages: u64, nodes: &NodeSet) -> Vec<(NodeId, u64)> {
    let mut counts: Vec<(NodeId, u64)> = nodes.iter().map(|node| (node, 0)).collect();
    let many = counts.len() as u64;
    let mut left = pages;
    while left > 0 {
        let step = left.min(100);
        for (turn, (_, count)) in (0..).zip(&mut counts) {
            *count += step / many + u64::from(turn < step % many);
        }
        left -= step;
    }
    counts.retain(|&(_, count)| count > 0);
    counts
}
