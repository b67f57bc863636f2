//! Machines with one node, which is all that the crate knows without feature `numa`:
//! `cargo test -p nearmem --no-default-features --test flat` runs these without it.

use nearmem::alloc::{MemorySubsystem, Options, Policy, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, NodeSet, Order};

const MIB: u64 = 1 << 20;
const PAGE: Request<'static> = Request::new(Order::ZERO);

#[test]
fn every_policy_is_served_by_the_one_node() {
    let machine = SimMachine::builder().node(40 * MIB, 2).build();
    let map = machine.map();
    let mm = machine.start(&map, Options::default());
    let set = NodeSet::of(NodeId(0));
    let mut served = 0;
    for policy in [Policy::Local, Policy::Preferred(NodeId(0)), Policy::Bind(&set)] {
        for limit in ZoneKind::ALL {
            for order in [0, 1, 9].map(|order| Order::new(order).unwrap()) {
                let block = mm.alloc(&Request::new(order).on(policy).limit(limit)).unwrap();
                assert!(block.zone().kind <= limit);
                mm.free(block).unwrap();
                served += 1;
            }
        }
    }
    let counters = mm.node_counters(NodeId(0));
    assert_eq!((counters.hit, counters.local, counters.other), (served, served, 0));
}

#[test]
fn each_cpu_has_its_pagesets_and_gives_all_back() {
    let machine = SimMachine::builder().node(40 * MIB, 2).build();
    let map = machine.map();
    let mm = machine.start(&map, Options::default());
    mm.drain_all();
    let free = || mm.zones().iter().map(|zone| zone.free()).sum::<u64>();
    let before = free();
    for cpu in [CpuId(0), CpuId(1)] {
        machine.run_on(cpu, || {
            let blocks: Vec<_> = (0..500).map(|_| mm.alloc(&PAGE).unwrap()).collect();
            blocks.into_iter().for_each(|block| mm.free(block).unwrap());
            let parked = mm.zones().iter().map(|zone| mm.parked(cpu, zone.id())).sum::<u64>();
            assert!(parked > 0);
            assert_eq!(free() + parked, before);
            mm.drain_local(&mm.pin());
            assert_eq!(free(), before);
        });
    }
}

/// The feature decides whether a machine with two nodes is taken.
#[test]
fn several_nodes_take_the_feature() {
    let machine = SimMachine::builder().node(40 * MIB, 1).node(40 * MIB, 1).build();
    let map = machine.map();
    let boot = machine.boot_memory(&map);
    // SAFETY: the machine's RAM lives as long as the machine, and nobody else uses it.
    let mm =
        unsafe { MemorySubsystem::hand_over(boot, &map, machine.platform(), Options::default()) };
    assert_eq!(mm.is_ok(), cfg!(feature = "numa"));
}
