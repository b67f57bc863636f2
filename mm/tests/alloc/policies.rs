//! Which node serves.

use nearmem::alloc::{Interleave, Options, Policy, Request, WeightedInterleave, interleave_nodes};
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, NodeSet, Order};

use crate::machines::{MIB, PAGE, as_cpu, boot, order, take_all, topologies, up, zone};

/// The nodes that serve one page after the other until none is left, without repetitions.
fn serving_order(mm: &crate::machines::Mm<'_>, request: &Request<'_>) -> Vec<u16> {
    let taken = take_all(mm, request);
    let mut nodes: Vec<u16> = taken.iter().map(|block| block.zone().node.0).collect();
    nodes.dedup();
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
    mm.drain_all();
    nodes
}

#[test]
fn memory_comes_from_the_nearest_node_first() {
    // A ring of four.
    let machine = SimMachine::builder()
        .node(20 * MIB, 1)
        .node(6 * MIB, 1)
        .node(6 * MIB, 1)
        .node(6 * MIB, 1)
        .distances(&[10, 20, 30, 20, 20, 10, 20, 30, 30, 20, 10, 20, 20, 30, 20, 10])
        .build();
    let map = machine.map();
    let mm = up(&machine, &map);
    for (node, expected) in
        [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]].into_iter().enumerate()
    {
        let node = NodeId(node as u16);
        let order: Vec<u16> = mm.fallback_order(node).iter().map(|node| node.0).collect();
        assert_eq!(order, expected);
        // All low marks, then all min marks: the order of the nodes shows twice.
        let twice = [expected, expected].concat();
        assert_eq!(serving_order(&mm, &PAGE.on(Policy::Preferred(node))), twice);
        as_cpu(&machine, &mm, CpuId(node.0), || {
            assert_eq!(serving_order(&mm, &PAGE), twice);
        });
    }
}

#[test]
fn within_a_node_high_zones_serve_first() {
    let machine = SimMachine::builder().node(20 * MIB, 1).range(0, 4096 * MIB, 4104 * MIB).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let mut kinds: Vec<_> =
        take_all(&mm, &PAGE).into_iter().map(|block| (block.zone().kind, block.leak()).0).collect();
    kinds.dedup();
    use ZoneKind::{Dma, Dma32, Normal};
    assert_eq!(kinds[..3], [Normal, Dma32, Dma]);
}

#[test]
fn bind_never_leaves_its_set() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = up(&machine, &map);
        let nodes: Vec<NodeId> = map.possible().iter().collect();
        for bits in 1..1u32 << nodes.len() {
            let set: NodeSet =
                nodes.iter().copied().filter(|node| bits >> node.0 & 1 == 1).collect();
            for wanted in [0, 4, 9] {
                let request = Request::new(order(wanted)).on(Policy::Bind(&set));
                let taken = take_all(&mm, &request);
                assert!(taken.iter().all(|block| set.contains(block.zone().node)), "{name}");
                if wanted == 0 && set.iter().any(|node| map.with_memory().contains(node)) {
                    assert!(!taken.is_empty(), "{name}: {set}");
                }
                taken.into_iter().for_each(|block| mm.free(block).unwrap());
            }
        }
    }
}

#[test]
fn interleaving_takes_turns_from_the_lowest_node() {
    let machine = SimMachine::builder()
        .node(20 * MIB, 1)
        .node(15 * MIB, 1)
        .node(0, 1)
        .node(17 * MIB, 1)
        .node(16 * MIB, 1)
        .build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let nodes = interleave_nodes(&map);
    assert_eq!(nodes.to_string(), "0,3-4");
    let turns = Interleave::new(nodes);
    let request = PAGE.on(Policy::Interleave(&turns));
    let served: Vec<u16> = (0..9)
        .map(|_| {
            let block = mm.alloc(&request).unwrap();
            let node = block.zone().node.0;
            mm.free(block).unwrap();
            node
        })
        .collect();
    assert_eq!(served, [0, 3, 4, 0, 3, 4, 0, 3, 4]);
    assert_eq!(mm.node_counters(NodeId(3)).interleave_hit, 3);
}

/// A full node's turns go to the nearest other one and are no hits of its own.
#[test]
fn weighted_interleaving_serves_each_node_as_its_weight_says() {
    let machine = SimMachine::builder().node(16 * MIB, 1).node(16 * MIB, 1).node(8 * MIB, 1);
    let machine = machine.build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let turns = WeightedInterleave::new(*map.with_memory(), &[3, 1, 2]);
    let request = PAGE.on(Policy::WeightedInterleave(&turns));
    let blocks: Vec<_> = (0..600).map(|_| mm.alloc(&request).unwrap()).collect();
    let served = |node| blocks.iter().filter(|block| block.zone().node == NodeId(node)).count();
    assert_eq!([served(0), served(1), served(2)], [300, 100, 200]);
    assert_eq!(mm.node_counters(NodeId(0)).interleave_hit, 300);
    let all_of_2 = take_all(&mm, &PAGE.on(Policy::Bind(&NodeSet::of(NodeId(2)))));
    let elsewhere: Vec<_> = (0..6).map(|_| mm.alloc(&request).unwrap()).collect();
    assert!(elsewhere.iter().all(|block| block.zone().node != NodeId(2)));
    assert_eq!(mm.node_counters(NodeId(2)).interleave_hit, 200);
    let all = blocks.into_iter().chain(all_of_2).chain(elsewhere);
    all.for_each(|block| mm.free(block).unwrap());
}

#[test]
fn without_a_large_node_the_largest_interleaves_alone() {
    let machine = SimMachine::builder().node(5 * MIB, 1).node(7 * MIB, 1).node(7 * MIB, 1).build();
    assert_eq!(interleave_nodes(&machine.map()).to_string(), "1");
}

/// A node without memory has a fallback list; a node that does not exist means the local one.
#[test]
fn nodes_without_memory_and_unknown_nodes_are_served() {
    let machine = SimMachine::builder()
        .node(24 * MIB, 1)
        .node(0, 2)
        .node(24 * MIB, 1)
        .distances(&[10, 20, 40, 20, 10, 15, 40, 15, 10])
        .build();
    let map = machine.map();
    let mm = up(&machine, &map);
    assert_eq!(mm.fallback_order(NodeId(1)), [NodeId(1), NodeId(2), NodeId(0)]);
    for (wanted, served) in [(0, 0), (1, 2), (2, 2), (3, 0), (999, 0), (u16::MAX, 0)] {
        let block = mm.alloc(&PAGE.on(Policy::Preferred(NodeId(wanted)))).unwrap();
        assert_eq!(block.zone().node, NodeId(served), "wanted {wanted}");
        mm.free(block).unwrap();
    }
    as_cpu(&machine, &mm, CpuId(1), || {
        for _ in 0..1000 {
            let block = mm.alloc(&PAGE).unwrap();
            assert_eq!(block.zone().node, NodeId(2));
            mm.free(block).unwrap();
        }
        let counters = mm.node_counters(NodeId(2));
        assert!(counters.hit >= 1000 && counters.other >= 1000 && counters.local == 0);
    });
    mm.drain_all();
}

/// One node serves nearly the whole machine to a task that never asked for more than "near".
#[test]
fn local_requests_go_on_to_other_nodes() {
    let machine = SimMachine::builder().node(20 * MIB, 1).node(40 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let enough = mm.managed() * 9 / 10;
    let taken: Vec<_> = (0..enough).map(|_| mm.alloc(&PAGE).unwrap()).collect();
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn bulk_stays_on_its_node_and_above_low() {
    let machine = SimMachine::builder().node(20 * MIB, 1).node(20 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let far = mm.zone(zone(1, ZoneKind::Dma32)).unwrap();
    let mut blocks = Vec::new();
    let got = mm.alloc_bulk(NodeId(1), 150, &mut |block| blocks.push(block));
    assert_eq!((got, blocks.len()), (150, 150));
    assert!(blocks.iter().all(|block| block.zone() == far.id() && block.order() == Order::ZERO));
    assert_eq!(mm.node_counters(NodeId(1)).hit, 150);
    assert_eq!(mm.node_counters(NodeId(1)).interleave_hit, 0);
    loop {
        let before = far.free();
        let got = mm.alloc_bulk(NodeId(1), 100, &mut |block| blocks.push(block));
        if got < 100 {
            assert_eq!(got, 0, "all or nothing on a quiet machine");
            assert!(before <= far.watermarks().low + 100 + far.protection(ZoneKind::Normal));
            break;
        }
    }
    let slack = 2 * mm.pageset_sizes(far.id()).unwrap().batch as u64;
    assert!(far.free() + slack >= far.watermarks().low);
    assert_eq!(mm.alloc_bulk(NodeId(7), 10, &mut |_| unreachable!()), 0);
    assert_eq!(mm.alloc_bulk(NodeId(1), 0, &mut |_| unreachable!()), 0);
    blocks.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn zeroed_memory_is_zero_and_other_memory_is_what_it_was() {
    let machine = SimMachine::builder().node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    for wanted in [0, 3, 10] {
        let bytes = order(wanted).bytes() as usize;
        let read = |block: &nearmem::alloc::FrameBlock<'_>| {
            // SAFETY: the block is allocated and initialised (by the simulation or by zeroing).
            unsafe { std::slice::from_raw_parts(block.as_ptr(mm.platform()), bytes) }
        };
        let plain = mm.alloc(&Request::new(order(wanted))).unwrap();
        assert!(read(&plain).contains(&0xa5));
        mm.free(plain).unwrap();
        let clean = mm.alloc(&Request::new(order(wanted)).zeroed()).unwrap();
        assert!(read(&clean).iter().all(|&byte| byte == 0));
        mm.free(clean).unwrap();
        let cpu = mm.pin();
        let clean = mm.try_alloc(&cpu, &Request::new(order(wanted)).zeroed()).unwrap();
        assert!(read(&clean).iter().all(|&byte| byte == 0));
        mm.try_free(&cpu, clean).unwrap();
    }
}
