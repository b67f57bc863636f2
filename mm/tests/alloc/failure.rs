//! Requests that fail say why.

use nearmem::alloc::{AllocError, Options, Policy, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::{Watermarks, ZoneKind};
use nearmem::{NodeId, NodeSet, Order};

use crate::machines::{
    MIB, PAGE, boot, order, take_all, two_nodes, two_nodes_above_dma, unused, up, without_marks,
    zone,
};

#[test]
fn a_set_without_memory_is_named() {
    let machine = SimMachine::builder().node(32 * MIB, 1).node(0, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    for set in [NodeSet::EMPTY, NodeSet::of(NodeId(1)), NodeSet::of(NodeId(77))] {
        assert_eq!(mm.alloc(&PAGE.on(Policy::Bind(&set))).unwrap_err(), AllocError::NoZone);
    }
    let second = SimMachine::builder().node(32 * MIB, 1).node(32 * MIB, 1).build();
    let map = second.map();
    let mm = up(&second, &map);
    let set = NodeSet::of(NodeId(1));
    let isa = PAGE.on(Policy::Bind(&set)).limit(ZoneKind::Dma);
    assert_eq!(mm.alloc(&isa).unwrap_err(), AllocError::NoZone);
}

/// No usable frame below 16 MiB: zone DMA is empty, and who needs it is told.
#[test]
fn an_empty_dma_zone_is_legal() {
    let machine = SimMachine::builder().node(0, 1).range(0, 16 * MIB, 48 * MIB).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    assert!(mm.zone(zone(0, ZoneKind::Dma)).is_none());
    assert_eq!(mm.alloc(&PAGE.limit(ZoneKind::Dma)).unwrap_err(), AllocError::NoZone);
    mm.free(mm.alloc(&PAGE).unwrap()).unwrap();
}

#[test]
fn the_watermarks_keep_the_last_frames() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    let taken = take_all(&mm, &PAGE);
    let free = unused(&mm);
    assert!(free > 0);
    assert_eq!(mm.alloc(&PAGE).unwrap_err(), AllocError::NoMemory { order: Order::ZERO, free });
    for zone in mm.zones() {
        let mark = zone.watermarks().min + zone.protection(ZoneKind::Normal);
        assert_eq!(zone.free(), mark.min(zone.managed()), "{:?}", zone.id());
    }
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn low_marks_turn_requests_to_the_next_node_first() {
    let machine = two_nodes_above_dma().build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    let near = mm.zone(zone(0, ZoneKind::Dma32)).unwrap();
    let own: Vec<_> = (0..near.managed())
        .map(|_| mm.alloc(&PAGE).unwrap())
        .take_while(|block| block.zone() == near.id())
        .map(|block| block.leak())
        .collect();
    assert!(!own.is_empty());
    // Refused at low, though there is more above min.
    let marks = near.watermarks();
    assert_eq!(near.free(), marks.low + near.protection(ZoneKind::Normal));
    assert!(marks.min < marks.low);
    let next = mm.alloc(&PAGE).unwrap();
    assert_eq!(next.zone(), zone(1, ZoneKind::Dma32));
    let _ = next.leak();
}

#[test]
fn small_pieces_are_called_fragmentation() {
    let machine = SimMachine::builder().node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    without_marks(&mm);
    let mut kept = Vec::new();
    for block in take_all(&mm, &PAGE) {
        // Every other frame stays taken.
        if block.pfn().0 % 2 == 0 {
            kept.push(block);
        } else {
            mm.free(block).unwrap();
        }
    }
    let pair = Request::new(order(1));
    assert_eq!(mm.alloc(&pair).unwrap_err(), AllocError::Fragmented { order: order(1) });
    let freed = kept.pop().unwrap();
    mm.free(freed).unwrap();
    let merged = mm.alloc(&pair).unwrap();
    mm.free(merged).unwrap();
    kept.into_iter().for_each(|block| mm.free(block).unwrap());
}

/// Parked frames are free memory: a request that is refused takes them back first.
#[test]
fn parked_frames_are_taken_back_before_a_request_fails() {
    let machine = SimMachine::builder().node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    without_marks(&mm);
    let huge = Request::new(order(9));
    let mut huge_blocks = take_all(&mm, &huge);
    let pieces = take_all(&mm, &PAGE);
    let last = huge_blocks.pop().unwrap();
    let zone = last.zone();
    let mut parked = 0;
    for frame in last.into_frames() {
        mm.free(frame).unwrap();
        parked = parked.max(mm.parked_in(zone));
    }
    assert!(mm.parked_in(zone) > 0, "the test parks something: at most {parked}");
    {
        let cpu = mm.pin();
        let refused = mm.try_alloc(&cpu, &huge).unwrap_err();
        assert_ne!(refused, AllocError::NoZone);
    }
    let again = mm.alloc(&huge).unwrap();
    mm.free(again).unwrap();
    huge_blocks.into_iter().chain(pieces).for_each(|block| mm.free(block).unwrap());
}

#[test]
fn min_free_kbytes_never_keeps_all_memory() {
    let machine = two_nodes().build();
    let map = machine.map();
    let options = Options { min_free_kbytes: Some(u64::MAX), ..Options::default() };
    let mm = boot(&machine, &map, options);
    mm.free(mm.alloc(&PAGE).unwrap()).unwrap();

    let machine = two_nodes().build();
    let map = machine.map();
    let options = Options {
        min_free_kbytes: Some(4000),
        watermark_scale_factor: Some(1000),
        ..Options::default()
    };
    let mm = boot(&machine, &map, options);
    assert_eq!(mm.min_free_kbytes(), 4000);
    let total: u64 = mm.managed();
    for zone in mm.zones() {
        let min = 1000 * zone.managed() / total;
        let step = (min / 4).max(zone.managed() / 10);
        assert!(step.abs_diff(zone.managed() / 10) <= 1 || step == min / 4);
        let expected = Watermarks { min, low: min + step, high: min + 2 * step };
        assert_eq!(zone.watermarks(), expected);
    }
}
