//! What a request can say beside order and zone limit: this node only, no retry, the reserve, a
//! preference for several nodes.

use nearmem::alloc::{AllocError, NumaCounters, Options, Policy, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, NodeSet, Order};

use crate::machines::{MIB, PAGE, as_cpu, boot, order, take_all, two_nodes, up, without_marks};

#[test]
fn this_node_only_never_falls_back() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(24 * MIB, 1).node(0, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    for (cpu, policy, node) in [
        (0, Policy::Local, 0),
        (0, Policy::Preferred(NodeId(1)), 1),
        (1, Policy::Local, 1),
        (1, Policy::Preferred(NodeId(0)), 0),
    ] {
        as_cpu(&machine, &mm, CpuId(cpu), || {
            let request = PAGE.on(policy).this_node();
            let taken = take_all(&mm, &request);
            assert!(taken.len() > 1000 && taken.iter().all(|at| at.zone().node == NodeId(node)));
            assert!(matches!(mm.alloc(&request), Err(AllocError::NoMemory { .. })));
            let elsewhere = mm.alloc(&PAGE.on(policy)).unwrap();
            assert_ne!(elsewhere.zone().node, NodeId(node));
            taken.into_iter().chain([elsewhere]).for_each(|block| mm.free(block).unwrap());
        });
    }
    // A node without memory has none of its own, by whatever way it is asked.
    as_cpu(&machine, &mm, CpuId(2), || {
        let far = mm.alloc(&PAGE).unwrap();
        mm.free(far).unwrap();
        for policy in [Policy::Local, Policy::Preferred(NodeId(2))] {
            for wanted in [0, 3] {
                let request = Request::new(order(wanted)).on(policy).this_node();
                assert_eq!(mm.alloc(&request).unwrap_err(), AllocError::NoZone);
            }
        }
    });
}

#[test]
fn atomic_requests_go_on_below_the_min_mark() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    let taken = take_all(&mm, &PAGE);
    let more = take_all(&mm, &PAGE.atomic());
    assert!(!more.is_empty());
    for zone in mm.zones() {
        let min = zone.watermarks().min;
        let half = min - min / 2;
        let keep = half - half / 4 + zone.protection(ZoneKind::Normal);
        assert_eq!(zone.free(), keep.min(zone.managed()), "{}", zone.id());
    }
    assert!(mm.alloc(&PAGE.atomic()).is_err());
    taken.into_iter().chain(more).for_each(|block| mm.free(block).unwrap());
}

#[test]
fn without_retry_parked_frames_stay_where_they_are() {
    let machine = SimMachine::builder().node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    without_marks(&mm);
    let huge = Request::new(Order::HUGE);
    let mut blocks = take_all(&mm, &huge);
    blocks.extend(take_all(&mm, &PAGE));
    let last = blocks.iter().position(|block| block.order() == Order::HUGE).unwrap();
    let last = blocks.swap_remove(last);
    let zone = last.zone();
    last.into_frames().for_each(|frame| mm.free(frame).unwrap());
    let parked = mm.parked_in(zone);
    assert!(parked > 0);
    mm.alloc(&huge.no_retry()).unwrap_err();
    mm.alloc(&huge.atomic()).unwrap_err();
    assert_eq!(mm.parked_in(zone), parked);
    blocks.push(mm.alloc(&huge).unwrap());
    blocks.into_iter().for_each(|block| mm.free(block).unwrap());
}

/// As Linux: first within the set as if it were bound, then as if there were no policy, each with
/// the counters of its own.
#[test]
fn several_preferred_nodes_come_first_and_then_all_others() {
    let machine = SimMachine::builder()
        .node(24 * MIB, 1)
        .node(24 * MIB, 0)
        .node(24 * MIB, 0)
        .distances(&[10, 30, 20, 30, 10, 20, 20, 20, 10])
        .build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let set = [NodeId(1), NodeId(2)].into_iter().collect::<NodeSet>();
    let taken = take_all(&mm, &PAGE.on(Policy::PreferredMany(&set)));
    let nodes: Vec<u16> = taken.iter().map(|block| block.zone().node.0).collect();
    let of = |node| nodes.iter().filter(|&&at| at == node).count() as u64;
    // The set's nearest to its low mark, then the other one; both to their min marks; the rest.
    let first = |node| nodes.iter().position(|&at| at == node).unwrap();
    assert!(first(2) == 0 && first(2) < first(1) && first(1) < first(0));
    assert!(nodes[first(0)..].iter().all(|&node| node == 0));
    assert!([0, 1, 2].iter().all(|&node| of(node) > 1000));
    let counters = |node| mm.node_counters(NodeId(node));
    let NumaCounters { hit, miss, foreign, .. } = counters(0);
    assert_eq!((hit, miss, foreign), (of(0), 0, 0));
    assert_eq!((counters(2).hit, counters(2).foreign), (of(2), of(1)));
    assert_eq!((counters(1).hit, counters(1).miss), (0, of(1)));
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
    let anywhere = mm.alloc(&PAGE.on(Policy::PreferredMany(&NodeSet::EMPTY))).unwrap();
    assert_eq!(anywhere.zone().node, NodeId(0));
    mm.free(anywhere).unwrap();
}
