//! The page allocator: orders, nodes, policies and zone limits.

use alloc::vec::Vec;

use nearmem::alloc::{AllocError, FrameBlock, Interleave, Policy, Request, interleave_nodes};
use nearmem::zone::{FreeError, ZoneId, ZoneKind};
use nearmem::{NodeId, NodeSet, Order, Pfn};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;

use crate::support::{free_frames, give_back, take_from, with_token, words};

kernel_tests! {
    every_order_on_every_node,
    blocks_hold_what_is_written_to_them,
    zeroed_blocks_are_zero,
    a_limit_of_dma_gives_frames_below_16_mib,
    a_preferred_node_is_the_first_choice,
    interleaving_takes_turns,
    an_empty_set_of_nodes_is_an_error,
    a_part_of_a_block_can_be_freed,
    frames_that_were_never_given_out_are_refused,
}

/// Whether `node` has a free block of `order` that no watermark and no protection keeps.
fn can_serve(kernel: &Kernel, node: NodeId, order: Order) -> bool {
    kernel.memory.zones().iter().filter(|zone| zone.id().node == node).any(|zone| {
        let kept = zone.watermarks().high + zone.protection(ZoneKind::Normal) + order.pages();
        let block = with_token(kernel, |token| {
            Order::all().filter(|&o| o >= order).any(|o| zone.blocks(token, o) > 0)
        });
        zone.free() > kept && block
    })
}

fn every_order_on_every_node(kernel: &Kernel) {
    for node in kernel.map.with_memory().iter() {
        for order in Order::all() {
            let before = free_frames(kernel.memory, node);
            let possible = can_serve(kernel, node, order);
            let Some(block) = take_from(kernel.memory, node, order) else {
                assert!(!possible, "node {node} has a block of {order:?} and does not give it");
                continue;
            };
            assert_eq!(block.order(), order);
            assert!(block.pfn().is_aligned(order), "{:?} of {order:?}", block.pfn());
            for pfn in [block.pfn(), block.pfn() + (order.pages() - 1)] {
                assert_eq!(kernel.map.node_of(pfn), Some(node), "{pfn:?}");
            }
            assert_eq!(block.zone().node, node);
            assert_eq!(free_frames(kernel.memory, node), before - order.pages());
            give_back(kernel.memory, block);
            assert_eq!(free_frames(kernel.memory, node), before, "after freeing {order:?}");
        }
    }
}

fn blocks_hold_what_is_written_to_them(kernel: &Kernel) {
    let mut blocks: Vec<_> = Vec::with_capacity(64);
    for node in kernel.map.with_memory().iter() {
        blocks
            .extend((0..4).filter_map(|order| take_from(kernel.memory, node, Order::new(order)?)));
    }
    for (at, block) in blocks.iter_mut().enumerate() {
        words(kernel.memory, block).fill(at as u64);
    }
    for (at, block) in blocks.iter_mut().enumerate() {
        assert!(
            words(kernel.memory, block).iter().all(|&word| word == at as u64),
            "block {at} was overwritten"
        );
    }
    blocks.into_iter().for_each(|block| give_back(kernel.memory, block));
}

fn zeroed_blocks_are_zero(kernel: &Kernel) {
    for order in [0, 3, 9].map(|order| Order::new(order).expect("an order")) {
        let mut dirty = kernel.memory.alloc(&Request::new(order)).expect("a block");
        words(kernel.memory, &mut dirty).fill(u64::MAX);
        give_back(kernel.memory, dirty);
        let mut clean = kernel.memory.alloc(&Request::new(order).zeroed()).expect("a block");
        assert!(words(kernel.memory, &mut clean).iter().all(|&word| word == 0), "{order:?}");
        give_back(kernel.memory, clean);
    }
}

fn a_limit_of_dma_gives_frames_below_16_mib(kernel: &Kernel) {
    let request = Request::new(Order::ZERO).limit(ZoneKind::Dma);
    let block = kernel.memory.alloc(&request).expect("a frame of zone DMA");
    assert_eq!(block.zone().kind, ZoneKind::Dma);
    assert!(ZoneKind::Dma.frames().contains(block.pfn()), "{:?}", block.pfn());
    give_back(kernel.memory, block);

    let has_dma = |node| kernel.memory.zone(ZoneId { node, kind: ZoneKind::Dma }).is_some();
    for node in kernel.map.with_memory().iter().filter(|&node| !has_dma(node)) {
        let only = NodeSet::of(node);
        let result = kernel.memory.alloc(&request.on(Policy::Bind(&only)));
        assert_eq!(result.err(), Some(AllocError::NoZone), "node {node}");
    }
}

/// A node without memory counts, too: the nearest one with memory serves for it.
fn a_preferred_node_is_the_first_choice(kernel: &Kernel) {
    for node in kernel.map.possible().iter() {
        let order = kernel.memory.fallback_order(node);
        let serves = order.iter().find(|&&n| can_serve(kernel, n, Order::ZERO));
        let request = Request::new(Order::ZERO).on(Policy::Preferred(node));
        let block = kernel.memory.alloc(&request).expect("a frame");
        assert_eq!(Some(&block.zone().node), serves, "for node {node}, whose order is {order:?}");
        give_back(kernel.memory, block);
    }
}

fn interleaving_takes_turns(kernel: &Kernel) {
    let nodes = interleave_nodes(kernel.map);
    let turns = Interleave::new(nodes);
    let round: Vec<_> = nodes.iter().collect();
    for &node in round.iter().cycle().take(round.len() * 3) {
        let request = Request::new(Order::ZERO).on(Policy::Interleave(&turns));
        let block = kernel.memory.alloc(&request).expect("a frame");
        assert_eq!(block.zone().node, node);
        give_back(kernel.memory, block);
    }
}

fn an_empty_set_of_nodes_is_an_error(kernel: &Kernel) {
    let request = Request::new(Order::ZERO).on(Policy::Bind(&NodeSet::EMPTY));
    assert_eq!(kernel.memory.alloc(&request).err(), Some(AllocError::NoZone));
}

fn a_part_of_a_block_can_be_freed(kernel: &Kernel) {
    let node = kernel.map.with_memory().first().expect("a node with memory");
    let before = free_frames(kernel.memory, node);
    let order = Order::new(3).expect("an order");
    let block = take_from(kernel.memory, node, order).expect("a block");
    let (lower, upper) = block.into_halves().expect("two halves");
    give_back(kernel.memory, upper);
    assert_eq!(free_frames(kernel.memory, node), before - 4);
    lower.into_frames().for_each(|frame| give_back(kernel.memory, frame));
    assert_eq!(free_frames(kernel.memory, node), before);
}

fn frames_that_were_never_given_out_are_refused(kernel: &Kernel) {
    let beyond = kernel.map.ranges().last().expect("memory").frames.end + (1 << 20);
    let metadata = kernel.memory.zones()[0].metadata().start.pfn();
    let free = take_from(kernel.memory, kernel.memory.zones()[0].id().node, Order::ZERO);
    let free = free.map(|block| {
        let pfn = block.pfn();
        give_back(kernel.memory, block);
        kernel.memory.drain_all();
        pfn
    });
    let raw = |pfn: Pfn| {
        // SAFETY: not what the raw door asks for, but what it has to find out: these frames are
        // beyond memory, reserved, or free, so no block comes of it that could be misused.
        unsafe { FrameBlock::from_raw(kernel.memory, pfn, Order::ZERO) }.err()
    };
    assert_eq!(raw(beyond), Some(FreeError::OutOfRange { pfn: beyond }));
    assert_eq!(raw(metadata), Some(FreeError::Reserved { pfn: metadata }));
    if let Some(pfn) = free {
        assert_eq!(raw(pfn), Some(FreeError::AlreadyFree { pfn }));
    }
}
