//! The NUMA counters, exactly.

use nearmem::alloc::{Interleave, NumaCounters, Policy, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, NodeSet};

use crate::machines::{MIB, Mm, PAGE, as_cpu, order, take_all, two_nodes, up};

fn numa(counters: NumaCounters) -> [u64; 6] {
    let NumaCounters { hit, miss, foreign, interleave_hit, local, other, .. } = counters;
    [hit, miss, foreign, interleave_hit, local, other]
}

fn check_sums(mm: &Mm<'_>) {
    let mut sum = NumaCounters::default();
    for node in mm.map().possible().iter() {
        let counters = mm.node_counters(node);
        assert_eq!(counters.hit + counters.miss, counters.local + counters.other);
        sum += counters;
    }
    assert_eq!(sum.miss, sum.foreign);
}

#[test]
fn each_request_counts_where_it_was_served_and_where_it_began() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    assert_eq!(numa(mm.node_counters(NodeId(0))), [0; 6], "counting begins with the pagesets");
    let once = |request: &Request<'_>| mm.free(mm.alloc(request).unwrap()).unwrap();

    once(&PAGE);
    once(&Request::new(order(5)));
    assert_eq!(numa(mm.node_counters(NodeId(0))), [2, 0, 0, 0, 2, 0]);
    once(&PAGE.on(Policy::Preferred(NodeId(1))));
    assert_eq!(numa(mm.node_counters(NodeId(1))), [1, 0, 0, 0, 0, 1]);
    // A lower zone of the same node is still a hit; where there is none, the other node's is the
    // preferred one.
    once(&PAGE.limit(ZoneKind::Dma));
    once(&PAGE.limit(ZoneKind::Dma).on(Policy::Preferred(NodeId(1))));
    assert_eq!(numa(mm.node_counters(NodeId(0))), [4, 0, 0, 0, 4, 0]);
    let set = NodeSet::of(NodeId(1));
    once(&PAGE.on(Policy::Bind(&set)));
    assert_eq!(numa(mm.node_counters(NodeId(1))), [2, 0, 0, 0, 0, 2]);
    let turns = Interleave::new([NodeId(0), NodeId(1)].into_iter().collect());
    (0..4).for_each(|_| once(&PAGE.on(Policy::Interleave(&turns))));
    assert_eq!(numa(mm.node_counters(NodeId(0))), [6, 0, 0, 2, 6, 0]);
    assert_eq!(numa(mm.node_counters(NodeId(1))), [4, 0, 0, 2, 0, 4]);
    check_sums(&mm);
}

#[test]
fn a_fallback_is_a_miss_there_and_foreign_here() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let turns = Interleave::new(NodeSet::of(NodeId(1)));
    let taken = take_all(&mm, &PAGE.on(Policy::Interleave(&turns)));
    let [here, there] = [0, 1]
        .map(|node| taken.iter().filter(|block| block.zone().node == NodeId(node)).count() as u64);
    assert!(here > 0 && there > 0);
    assert_eq!(numa(mm.node_counters(NodeId(0))), [0, here, 0, 0, here, 0]);
    assert_eq!(numa(mm.node_counters(NodeId(1))), [there, 0, here, there, 0, there]);
    check_sums(&mm);
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
    assert_eq!(mm.node_counters(NodeId(1)).hit, there, "frees do not count");
}

#[test]
fn cpus_count_for_themselves_and_are_summed() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(24 * MIB, 2).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    for cpu in 0..3 {
        as_cpu(&machine, &mm, CpuId(cpu), || {
            for _ in 0..10 {
                let block = mm.alloc(&PAGE.on(Policy::Preferred(NodeId(1)))).unwrap();
                mm.free(block).unwrap();
            }
        });
    }
    assert_eq!(numa(mm.node_counters(NodeId(1))), [30, 0, 0, 0, 20, 10]);
    check_sums(&mm);
}
