//! Pagesets: when they hold what, and where they lie.

use nearmem::alloc::{Options, PagesetPlacement, Policy, Request};
use nearmem::pageset::KeptBlocks;
use nearmem::sim::SimMachine;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, NodeId, Order};

use crate::machines::{MIB, Mm, PAGE, as_cpu, boot, topologies, two_nodes, unused, up, zone};

#[test]
fn a_boot_pageset_never_holds_a_frame() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    let near = mm.zone(zone(0, ZoneKind::Dma32)).unwrap();
    let free = near.free();
    let mut taken = Vec::new();
    for at in 1..=200 {
        taken.push(mm.alloc(&PAGE).unwrap());
        assert_eq!((near.free(), mm.parked_in(near.id())), (free - at, 0));
    }
    for (at, block) in (0..200).rev().zip(taken) {
        mm.free(block).unwrap();
        assert_eq!((near.free(), mm.parked_in(near.id())), (free - at, 0));
    }
    assert_eq!(mm.pageset_frame(CpuId(0), near.id()), None);
    assert_eq!(mm.pageset_pages(), 0);
}

#[test]
fn a_refill_parks_exactly_a_batch_and_the_count_stays_below_high() {
    let machine = SimMachine::builder().node(300 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    mm.drain_all();
    let near = mm.zone(zone(0, ZoneKind::Dma32)).unwrap();
    let sizes = mm.pageset_sizes(near.id()).unwrap();
    assert_eq!((sizes.batch, u64::from(sizes.limit())), (15, sizes.high));
    // A batch to park, and the frame that was asked for.
    let batch = u64::from(sizes.batch) + 1;
    let free = near.free();
    let refills = mm.zone_counters(near.id()).refills;

    let first = mm.alloc(&PAGE).unwrap();
    assert_eq!(near.free(), free - batch);
    assert_eq!(mm.parked(CpuId(0), near.id()), batch - 1);
    assert_eq!(mm.zone_counters(near.id()).refills, refills + 1);
    let mut taken = vec![first];
    taken.extend((1..batch).map(|_| mm.alloc(&PAGE).unwrap()));
    assert_eq!((near.free(), mm.parked_in(near.id())), (free - batch, 0));
    // One batch comes out as the zone gave it: upward.
    assert!(taken.windows(2).all(|pair| pair[0].pfn().0 + 1 == pair[1].pfn().0));
    taken.extend((0..sizes.high * 2).map(|_| mm.alloc(&PAGE).unwrap()));

    let mut most = 0;
    for block in taken {
        mm.free(block).unwrap();
        most = most.max(mm.parked(CpuId(0), near.id()));
    }
    assert_eq!(most, sizes.high - 1);
    let kept = u64::from(KeptBlocks::BOUND);
    assert_eq!(mm.parked_bound(near.id()), sizes.high - 1 + kept);
    assert!(mm.zone_counters(near.id()).drains > 0);
    mm.drain_all();
    assert_eq!((near.free(), mm.parked_in(near.id())), (free, 0));
}

/// A small block that is freed stays with its CPU, one of each order, until it is drained or wanted.
#[test]
fn a_small_block_is_kept_for_its_cpu() {
    let machine = SimMachine::builder().node(64 * MIB, 2).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let near = mm.zone(zone(0, ZoneKind::Dma32)).unwrap();
    let free = near.free();
    for order in Order::all().skip(1) {
        let request = Request::new(order);
        let [first, second] = [(); 2].map(|()| mm.alloc(&request).unwrap());
        let pfn = first.pfn();
        let served = mm.zone_counters(near.id()).hit;
        mm.free(first).unwrap();
        mm.free(second).unwrap();
        let kept = if order.get() <= 4 { order.pages() } else { 0 };
        assert_eq!((mm.parked(CpuId(0), near.id()), near.free()), (kept, free - kept), "{order:?}");
        let again = mm.alloc(&request).unwrap();
        assert_eq!(mm.zone_counters(near.id()).hit, served + 1);
        assert!(kept == 0 || again.pfn() == pfn, "{order:?}");
        mm.free(again).unwrap();
        // Another CPU does not get what this one keeps.
        let other = machine.run_on(CpuId(1), || mm.alloc(&request).unwrap());
        assert!(kept == 0 || other.pfn() != pfn, "{order:?}");
        mm.free(other).unwrap();
        mm.drain_all();
        assert_eq!((mm.parked_in(near.id()), near.free()), (0, free), "{order:?}");
    }
}

/// A request that the zone cannot serve gets what a CPU keeps.
#[test]
fn a_kept_block_is_no_loss() {
    let machine = SimMachine::builder().node(24 * MIB, 2).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let request = |order| Request::new(Order::new(order).unwrap());
    let count = || {
        let blocks: Vec<_> = std::iter::from_fn(|| mm.alloc(&request(3)).ok()).collect();
        let count = blocks.len();
        blocks.into_iter().for_each(|block| mm.free(block).unwrap());
        mm.drain_all();
        count
    };
    let all = count();
    mm.free(mm.alloc(&request(4)).unwrap()).unwrap();
    assert_eq!(count(), all);
}

/// What was freed last comes back first, and a freed frame goes to the pageset of its own zone.
#[test]
fn frames_go_home() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(24 * MIB, 1).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    as_cpu(&machine, &mm, CpuId(1), || {
        let far = mm.alloc(&PAGE.on(Policy::Preferred(NodeId(0)))).unwrap();
        let pfn = far.pfn();
        let before = mm.parked(CpuId(1), far.zone());
        let id = far.zone();
        mm.free(far).unwrap();
        assert_eq!(mm.parked(CpuId(1), id), before + 1);
        let near = mm.alloc(&PAGE).unwrap();
        assert_eq!(near.zone().node, NodeId(1));
        mm.free(near).unwrap();
        let far = mm.alloc(&PAGE.on(Policy::Preferred(NodeId(0)))).unwrap();
        assert_eq!(far.pfn(), pfn);
        mm.free(far).unwrap();
    });
    for zone in mm.zones() {
        assert_eq!(mm.parked(CpuId(1), zone.id()), 0);
    }
}

/// The node of every pageset of a machine, by CPU and zone, and how many there are.
fn check_placement(mm: &Mm<'_>, cpus: u16, home: impl Fn(NodeId, NodeId) -> NodeId) {
    for cpu in (0..cpus).map(CpuId) {
        for zone in mm.zones() {
            let frame = mm.pageset_frame(cpu, zone.id()).expect("every CPU, every zone");
            let wanted = home(mm.map().node_of_cpu(cpu), zone.id().node);
            let nearest = mm
                .fallback_order(wanted)
                .iter()
                .find(|&&node| mm.map().with_memory().contains(node))
                .copied();
            assert_eq!(mm.map().node_of(frame), nearest, "CPU {cpu}, {:?}", zone.id());
        }
    }
    assert_eq!(mm.pageset_pages(), u64::from(cpus) * mm.zones().len() as u64);
}

#[test]
fn pagesets_live_where_the_option_says() {
    for pagesets in [PagesetPlacement::Local, PagesetPlacement::Zone] {
        for (name, machine) in topologies() {
            let map = machine.map();
            let mm = boot(&machine, &map, Options { pagesets, ..Options::default() });
            let managed = mm.managed();
            mm.set_up_pagesets().unwrap();
            check_placement(&mm, machine.cpus(), |cpu, zone| match pagesets {
                PagesetPlacement::Local => cpu,
                PagesetPlacement::Zone => zone,
            });
            assert_eq!(unused(&mm) + mm.pageset_pages(), managed, "{name}: they are accounted");
            let pages = mm.pageset_pages();
            mm.set_up_pagesets().unwrap();
            assert_eq!(mm.pageset_pages(), pages, "{name}: twice makes none twice");
        }
    }
}

#[test]
fn pagesets_that_find_no_memory_can_be_made_later() {
    let machine = SimMachine::builder().node(24 * MIB, 3).build();
    let map = machine.map();
    let mm = boot(&machine, &map, Options::default());
    crate::machines::without_marks(&mm);
    let mut taken = crate::machines::take_all(&mm, &PAGE);
    mm.free(taken.pop().unwrap()).unwrap();
    mm.set_up_pagesets().unwrap_err();
    assert_eq!(mm.pageset_pages(), 1);
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
    mm.set_up_pagesets().unwrap();
    assert_eq!(mm.pageset_pages(), 3 * mm.zones().len() as u64);
    mm.drain_all();
    assert_eq!(unused(&mm) + mm.pageset_pages(), mm.managed());
}

#[test]
fn one_zone_can_be_drained_alone() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let (near, far) = (zone(0, ZoneKind::Dma32), zone(1, ZoneKind::Dma32));
    for node in [0, 1] {
        let blocks: Vec<_> =
            (0..3).map(|_| mm.alloc(&PAGE.on(Policy::Preferred(NodeId(node)))).unwrap()).collect();
        blocks.into_iter().for_each(|block| mm.free(block).unwrap());
    }
    assert!(mm.parked_in(near) > 0 && mm.parked_in(far) > 0);
    let kept = mm.parked_in(near);
    mm.drain_zone(far);
    assert_eq!((mm.parked_in(near), mm.parked_in(far)), (kept, 0));
    mm.drain_local(&mm.pin());
    assert_eq!(mm.parked_in(near), 0);
}
