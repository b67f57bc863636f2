//! A node without a free frame: who serves instead, and that all comes back.

use alloc::vec::Vec;

use nearmem::alloc::{AllocError, FrameBlock, Policy, Request};
use nearmem::{NodeId, NodeSet, Order};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;

use crate::support::{free_frames, give_back, take_from};

kernel_tests! {
    a_bound_request_never_leaves_its_node,
    an_exhausted_node_falls_back_to_its_nearest,
    blocks_never_overlap_and_all_come_back,
}

/// Takes all that a node gives: large blocks first, so that the list stays short. The list is
/// made before, so that the heap does not grow meanwhile.
fn exhaust(kernel: &Kernel, node: NodeId, taken: &mut Vec<FrameBlock<'static>>) {
    for order in Order::all().rev() {
        while taken.len() < taken.capacity() {
            let Some(block) = take_from(kernel.memory, node, order) else { break };
            taken.push(block);
        }
    }
    assert!(taken.len() < taken.capacity(), "node {node} has more blocks than the list holds");
}

/// A list that holds all blocks of the largest node: 4 GiB in whole blocks, and the rest.
fn list() -> Vec<FrameBlock<'static>> {
    Vec::with_capacity(16 << 10)
}

fn a_bound_request_never_leaves_its_node(kernel: &Kernel) {
    let mut taken = list();
    for node in kernel.map.with_memory().iter() {
        exhaust(kernel, node, &mut taken);
        for block in &taken {
            assert_eq!(kernel.map.node_of(block.pfn()), Some(node), "{:?}", block.pfn());
        }
        let only = NodeSet::of(node);
        let error = kernel.memory.alloc(&Request::new(Order::ZERO).on(Policy::Bind(&only))).err();
        assert!(matches!(error, Some(AllocError::NoMemory { .. })), "{error:?}");
        taken.drain(..).for_each(|block| give_back(kernel.memory, block));
    }
}

fn an_exhausted_node_falls_back_to_its_nearest(kernel: &Kernel) {
    let mut taken = list();
    for node in kernel.map.with_memory().iter() {
        exhaust(kernel, node, &mut taken);
        let order = kernel.memory.fallback_order(node);
        let next = order.iter().skip(1).copied().find(|&other| {
            take_from(kernel.memory, other, Order::ZERO)
                .map(|block| give_back(kernel.memory, block))
                .is_some()
        });
        let request = Request::new(Order::ZERO).on(Policy::Preferred(node));
        let result = kernel.memory.alloc(&request);
        let served = result.as_ref().ok().map(|block| block.zone().node);
        assert_eq!(served, next, "for node {node}, whose order is {order:?}");
        result.into_iter().for_each(|block| give_back(kernel.memory, block));
        taken.drain(..).for_each(|block| give_back(kernel.memory, block));
    }
}

fn blocks_never_overlap_and_all_come_back(kernel: &Kernel) {
    let mut taken = list();
    for node in kernel.map.with_memory().iter() {
        let before = free_frames(kernel.memory, node);
        exhaust(kernel, node, &mut taken);
        taken.sort_unstable_by_key(|block| block.pfn());
        for pair in taken.windows(2) {
            let end = pair[0].pfn() + pair[0].order().pages();
            assert!(end <= pair[1].pfn(), "{:?} is in two blocks", pair[1].pfn());
        }
        let frames: u64 = taken.iter().map(|block| block.order().pages()).sum();
        assert_eq!(free_frames(kernel.memory, node) + frames, before, "frames of node {node}");
        // Every other block first, so that merging has neighbours to wait for.
        let (odd, even): (Vec<_>, Vec<_>) =
            taken.drain(..).enumerate().partition(|(at, _)| at % 2 == 1);
        odd.into_iter().chain(even).for_each(|(_, block)| give_back(kernel.memory, block));
        assert_eq!(free_frames(kernel.memory, node), before, "node {node} after freeing all");
    }
}
