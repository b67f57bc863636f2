//! Random sequences of operations: free, parked and allocated frames are always all frames.

use nearmem::alloc::{Interleave, NumaCounters, Policy, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, NodeSet, Order};
use proptest::prelude::*;

use crate::machines::{MIB, Mm, order, unused, up};

#[derive(Clone, Debug)]
enum Op {
    Alloc { cpu: u16, order: u8, limit: usize, policy: u8, node: u16, flags: u8 },
    Free { cpu: u16, which: usize },
    Split { which: usize },
    Bulk { node: u16, count: usize },
    Drain { cpu: u16, zone: Option<usize> },
    Retune,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..3u16, prop_oneof![6 => Just(0u8), 2 => 1..5u8, 1 => 5..11u8], 0..3usize, 0..5u8, 0..4u16, 0..4u8)
            .prop_map(|(cpu, order, limit, policy, node, flags)| Op::Alloc { cpu, order, limit, policy, node, flags }),
        6 => (0..3u16, any::<usize>()).prop_map(|(cpu, which)| Op::Free { cpu, which }),
        1 => any::<usize>().prop_map(|which| Op::Split { which }),
        1 => (0..4u16, 0..200usize).prop_map(|(node, count)| Op::Bulk { node, count }),
        1 => (0..3u16, proptest::option::of(0..4usize)).prop_map(|(cpu, zone)| Op::Drain { cpu, zone }),
        1 => Just(Op::Retune),
    ]
}

/// Free, parked and allocated frames are all frames; the structure of each zone has as many as
/// its counter says; every allocation was counted, once as hit or miss, once as local or other.
fn check(mm: &Mm<'_>, allocated: u64, served: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(unused(mm) + mm.pageset_pages() + allocated, mm.managed());
    let cpu = mm.pin();
    let mut sum = NumaCounters::default();
    for zone in mm.zones() {
        prop_assert!(mm.parked_in(zone.id()) <= mm.parked_bound(zone.id()));
        let blocks = Order::all().map(|order| zone.blocks(cpu.token(), order) * order.pages());
        prop_assert_eq!(blocks.sum::<u64>(), zone.free());
        let counters = mm.zone_counters(zone.id());
        prop_assert_eq!(counters.hit + counters.miss, counters.local + counters.other);
        sum += counters;
    }
    prop_assert_eq!(sum.hit + sum.miss, served);
    prop_assert_eq!(sum.miss, sum.foreign);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 24 }, ..ProptestConfig::default() })]

    #[test]
    fn free_parked_and_allocated_frames_are_all_frames(ops in proptest::collection::vec(op(), 1..400)) {
        let machine = SimMachine::builder()
            .node(18 * MIB, 1)
            .node(0, 1)
            .node(6 * MIB, 1)
            .range(2, 4096 * MIB, 4100 * MIB)
            .build();
        let map = machine.map();
        let mm = up(&machine, &map);
        let set: NodeSet = [NodeId(1), NodeId(2)].into_iter().collect();
        let turns = Interleave::new([NodeId(0), NodeId(2)].into_iter().collect());
        let mut blocks = Vec::new();
        let mut served = 0;
        for op in ops {
            match op {
                Op::Alloc { cpu, order: wanted, limit, policy, node, flags } => {
                    let policy = match policy {
                        0 => Policy::Local,
                        1 => Policy::Preferred(NodeId(node)),
                        2 => Policy::Bind(&set),
                        3 => Policy::PreferredMany(&set),
                        _ => Policy::Interleave(&turns),
                    };
                    let request =
                        Request::new(order(wanted)).on(policy).limit(ZoneKind::ALL[limit]);
                    let request = if flags & 1 != 0 { request.this_node() } else { request };
                    let request = if flags & 2 != 0 { request.atomic() } else { request };
                    let block = machine.run_on(CpuId(cpu), || mm.try_alloc(&mm.pin(), &request));
                    if let Ok(block) = block {
                        served += 1;
                        prop_assert!(block.zone().kind <= request.zone_limit());
                        match (request.only_this_node(), policy) {
                            (true, Policy::Local) => {
                                prop_assert_eq!(block.zone().node, NodeId(cpu));
                            }
                            (true, Policy::Preferred(node)) if node.0 < 3 => {
                                prop_assert_eq!(block.zone().node, node);
                            }
                            _ => {}
                        }
                        if let Policy::Bind(set) = policy {
                            prop_assert!(set.contains(block.zone().node));
                        }
                        blocks.push(block);
                    }
                }
                Op::Free { cpu, which } if !blocks.is_empty() => {
                    let block = blocks.swap_remove(which % blocks.len());
                    machine.run_on(CpuId(cpu), || mm.free(block)).unwrap();
                }
                Op::Split { which } if !blocks.is_empty() => {
                    let block = blocks.swap_remove(which % blocks.len());
                    match block.into_halves() {
                        Ok((low, high)) => blocks.extend([low, high]),
                        Err(single) => blocks.push(single),
                    }
                }
                Op::Bulk { node, count } => {
                    let got = mm.alloc_bulk(NodeId(node), count, &mut |block| blocks.push(block));
                    prop_assert!(got <= count);
                    served += got as u64;
                }
                Op::Drain { cpu, zone: None } => {
                    machine.run_on(CpuId(cpu), || mm.drain_local(&mm.pin()));
                }
                Op::Drain { zone: Some(index), .. } => {
                    mm.drain_zone(mm.zones()[index % mm.zones().len()].id());
                }
                Op::Retune => mm.set_watermarks(),
                Op::Free { .. } | Op::Split { .. } => {}
            }
            check(&mm, blocks.iter().map(|block| block.order().pages()).sum(), served)?;
        }
        blocks.into_iter().for_each(|block| mm.free(block).unwrap());
        for cpu in 0..3 {
            machine.run_on(CpuId(cpu), || mm.drain_local(&mm.pin()));
        }
        for zone in mm.zones() {
            prop_assert_eq!(mm.parked_in(zone.id()), 0);
            prop_assert_eq!(zone.leaked(), 0);
        }
        check(&mm, 0, served)?;
    }
}
