//! The record of who was asked, who refused and why, and what it cost.

use nearmem::alloc::{Options, Policy, REFUSALS, Refusal, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, NodeSet};

use crate::machines::{
    MIB, PAGE, as_cpu, boot, order, take_all, two_nodes_above_dma, up, without_marks, zone,
};

#[test]
fn a_request_that_is_served_at_once_has_nothing_to_explain() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let (block, why) = mm.alloc_explained(&PAGE.on(Policy::Preferred(NodeId(1))));
    let block = block.unwrap();
    assert_eq!((why.cpu_node, why.asked, why.asked_distance), (NodeId(0), NodeId(1), 20));
    assert_eq!(why.served, Some((block.zone(), 20)));
    assert_eq!((why.refusals().count(), why.more(), why.is_fallback()), (0, 0, false));
    mm.free(block).unwrap();
    assert_eq!(mm.node_counters(NodeId(1)).hit, 1, "it counts as any other");
}

#[test]
fn a_full_node_says_what_it_keeps() {
    let machine = two_nodes_above_dma().build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    let mut taken = take_all(&mm, &PAGE.this_node());
    let (block, why) = mm.alloc_explained(&PAGE);
    taken.push(block.unwrap());
    let own = mm.zone(zone(0, ZoneKind::Dma32)).unwrap();
    let (free, marks) = (own.free(), own.watermarks());
    let expected = Refusal::Watermark { zone: own.id(), free, keep: marks.low };
    assert_eq!(why.refusals().collect::<Vec<_>>(), [expected]);
    assert!(why.is_fallback());
    assert_eq!(
        why.to_string(),
        format!(
            "order 0 near Node 0: local Node 0 (10); Node 0 DMA32 keeps {} of {free} free frames; \
             served by Node 1 DMA32 (20)",
            marks.low
        )
    );

    // Nobody has any: each is named for the low pass, for the min pass, and after the drain.
    taken.extend(take_all(&mm, &PAGE));
    let (block, why) = mm.alloc_explained(&PAGE);
    block.unwrap_err();
    assert_eq!((why.served, why.refusals().count()), (None, 6));
    assert!(why.to_string().ends_with("served by nobody"));
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn nodes_outside_the_set_and_nodes_without_memory_are_named() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(0, 1).node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    as_cpu(&machine, &mm, CpuId(1), || {
        let (block, why) = mm.alloc_explained(&PAGE);
        mm.free(block.unwrap()).unwrap();
        assert_eq!(why.refusals().collect::<Vec<_>>(), [Refusal::NoZone { node: NodeId(1) }]);
        let set = NodeSet::of(NodeId(0));
        let (block, why) = mm.alloc_explained(&PAGE.on(Policy::Bind(&set)));
        mm.free(block.unwrap()).unwrap();
        let outside = [1, 2].map(|node| Refusal::OutsideSet { node: NodeId(node) });
        assert_eq!(why.refusals().collect::<Vec<_>>(), outside);
        assert_eq!(why.policy, "bind");
    });
    let isa = PAGE.limit(ZoneKind::Dma).on(Policy::Preferred(NodeId(2)));
    let (block, why) = mm.alloc_explained(&isa);
    mm.free(block.unwrap()).unwrap();
    assert_eq!(why.refusals().collect::<Vec<_>>(), [Refusal::NoZone { node: NodeId(2) }]);
    assert_eq!((why.asked_distance, why.served.unwrap().1), (20, 10), "it came home");
}

#[test]
fn small_pieces_are_named() {
    let machine = SimMachine::builder().node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    without_marks(&mm);
    let (odd, even): (Vec<_>, Vec<_>) =
        take_all(&mm, &PAGE).into_iter().partition(|block| block.pfn().0 % 2 == 1);
    odd.into_iter().for_each(|block| mm.free(block).unwrap());
    let (block, why) = mm.alloc_explained(&Request::new(order(1)).no_retry());
    block.unwrap_err();
    let mut zones = mm.zones().iter().rev().cycle();
    for refusal in why.refusals() {
        let zone = zones.next().unwrap();
        assert_eq!(refusal, Refusal::NoBlock { zone: zone.id(), free: zone.free() });
    }
    assert_eq!(why.refusals().count(), 4, "two zones, two passes");
    even.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn a_record_has_a_fixed_size_and_counts_the_rest() {
    let machine = (0..40).fold(SimMachine::builder(), |machine, _| machine.node(MIB, 1)).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let set = NodeSet::of(NodeId(39));
    let (block, why) = mm.alloc_explained(&PAGE.on(Policy::Bind(&set)));
    mm.free(block.unwrap()).unwrap();
    assert_eq!((why.refusals().count(), why.more()), (REFUSALS, 39 - REFUSALS as u32));
    assert!(why.to_string().contains("15 more refused; served by Node 39 DMA32 (20)"), "{why}");
}
