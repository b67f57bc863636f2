//! Where the tables go, and that no frame is lost on the way.

use nearmem::alloc::Options;
use nearmem::memblock::BootRequest;
use nearmem::sim::SimMachine;
use nearmem::zone::{ZoneKind, zone_span};
use nearmem::{CpuId, NodeId, PhysRange};

use crate::machines::{MIB, Mm, boot, topologies, up, zone};

fn node_of(mm: &Mm<'_>, range: PhysRange) -> NodeId {
    let frames = range.touched_frames();
    let first = mm.map().node_of(frames.start).expect("RAM");
    assert_eq!(mm.map().node_of(nearmem::Pfn(frames.end.0 - 1)), Some(first));
    first
}

#[test]
fn every_frame_is_managed_reserved_or_a_table() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let boot_memory = machine.boot_memory(&map);
        let before: u64 = boot_memory.free_ranges().map(|range| range.frames.len()).sum();
        // SAFETY: as in `boot`.
        let mm = unsafe {
            Mm::hand_over(boot_memory, &map, machine.platform(), Options::default()).unwrap()
        };
        let report = mm.hand_over_report();
        assert_eq!(report.refused, 0, "{name}");
        assert_eq!(mm.managed(), report.released, "{name}");
        assert_eq!(report.released + report.tables, before, "{name}");
        // Tables are small, and free frames are what is managed.
        assert!(report.tables < before / 50 + 20, "{name}: {report:?}");
        for zone in mm.zones() {
            assert_eq!(zone.free(), zone.managed(), "{name}");
            assert_eq!(zone.present(), zone_span(&map, zone.id()).present, "{name}");
        }
    }
}

#[test]
fn what_boot_reserved_is_never_given_out() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(24 * MIB, 1).build();
    let map = machine.map();
    let mut boot_memory = machine.boot_memory(&map);
    let held = [PhysRange::new(0x8000, 0x9000), PhysRange::new(5 * MIB + 100, 6 * MIB + 1)];
    held.iter().for_each(|&range| boot_memory.reserve(range).unwrap());
    let request = BootRequest { bytes: 70000, align: 64, node: Some(NodeId(1)), strict: true };
    let own = boot_memory.alloc(request).unwrap();
    // SAFETY: as in `boot`.
    let mm = unsafe {
        Mm::hand_over(boot_memory, &map, machine.platform(), Options::default()).unwrap()
    };
    crate::machines::without_marks(&mm);
    let taken = crate::machines::take_all(&mm, &crate::machines::PAGE);
    for range in held.into_iter().chain([own.range, PhysRange::new(0, 4096)]) {
        let frames = range.touched_frames();
        assert!(taken.iter().all(|block| !frames.contains(block.pfn())), "{range:?}");
    }
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn zones_have_room_for_all_that_boot_reserved() {
    let machine = SimMachine::builder().node(24 * MIB, 1).node(24 * MIB, 1).build();
    let map = machine.map();
    let mut boot_memory = machine.boot_memory(&map);
    let page = |at: u64| PhysRange::new(30 * MIB + at * 8192, 30 * MIB + at * 8192 + 4096);
    (0..200).map(page).for_each(|range| boot_memory.reserve(range).unwrap());
    assert_eq!(boot_memory.reserved_within(PhysRange::new(0, 30 * MIB)), 0);
    assert_eq!(boot_memory.reserved_within(PhysRange::new(30 * MIB + 4000, 31 * MIB)), 128);
    // SAFETY: as in `boot`.
    let mm = unsafe {
        Mm::hand_over(boot_memory, &map, machine.platform(), Options::default()).unwrap()
    };
    assert_eq!(mm.hand_over_report().refused, 0);
    let size = |id| mm.zone_metadata().find(|&(of, _)| of == id).unwrap().1.len();
    // 16 bytes for each of the ranges that split its memory.
    assert!(size(zone(1, ZoneKind::Dma32)) >= size(zone(0, ZoneKind::Dma32)) + 200 * 16);
}

#[test]
fn metadata_lies_on_its_own_node() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = boot(&machine, &map, Options::default());
        let mut zones = 0;
        for (id, range) in mm.zone_metadata() {
            assert_eq!(node_of(&mm, range), id.node, "{name}");
            zones += 1;
        }
        assert_eq!(zones, mm.zones().len());
        for cpu in (0..machine.cpus()).map(CpuId) {
            let block = mm.cpu_block(cpu).unwrap();
            let nearest = mm
                .fallback_order(map.node_of_cpu(cpu))
                .iter()
                .find(|&&node| map.with_memory().contains(node));
            assert_eq!(Some(&node_of(&mm, block)), nearest, "{name}: CPU {cpu}");
        }
        assert_eq!(mm.cpu_block(CpuId(machine.cpus())), None);
    }
}

#[test]
fn a_node_without_room_for_its_tables_borrows() {
    // One frame is not enough for a zone's metadata and the blocks of 8 CPUs.
    let machine = SimMachine::builder().node(32 * MIB, 1).node(4 << 10, 8).build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let tiny = mm.zone(zone(1, ZoneKind::Dma32)).expect("it has frames");
    assert_eq!(tiny.present(), 1);
    assert!(tiny.managed() <= 1);
    let fallbacks = mm.hand_over_report().fallbacks;
    assert!(fallbacks.count() > 0);
    for fallback in fallbacks.first() {
        assert_eq!((fallback.wanted, fallback.given), (NodeId(1), NodeId(0)));
        assert!(fallback.free < fallback.bytes);
    }
    let block = mm.alloc(&crate::machines::PAGE).unwrap();
    mm.free(block).unwrap();
}

#[test]
fn zones_are_found_by_id_and_by_frame() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = up(&machine, &map);
        for (index, &zone) in mm.zones().iter().enumerate() {
            assert_eq!(zone.index(), index, "{name}");
            assert!(core::ptr::eq(mm.zone(zone.id()).unwrap(), zone), "{name}");
            for range in zone.ranges() {
                let last = nearmem::Pfn(range.end.0 - 1);
                for pfn in [range.start, last] {
                    assert!(core::ptr::eq(mm.zone_of(pfn).unwrap(), zone), "{name}");
                }
            }
        }
        assert!(mm.zone_of(nearmem::Pfn(u64::MAX)).is_none());
        assert!(mm.zone(zone(900, ZoneKind::Normal)).is_none());
        let order = mm.fallback_order(NodeId(0));
        assert_eq!(order[0], NodeId(0), "{name}");
        assert_eq!(mm.fallback_order(NodeId(900)), []);
    }
}
