//! Blocks, parts of blocks, and the raw door.

use nearmem::alloc::{FrameBlock, Options, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::{FreeError, ZoneKind};
use nearmem::{Order, Pfn};

use crate::machines::{MIB, Mm, PAGE, boot, order, two_nodes, unused, up, zone};

/// The raw door, for what a test knows to be false.
fn raw<'m>(mm: &Mm<'m>, pfn: Pfn, order: Order) -> Result<FrameBlock<'m>, FreeError> {
    // SAFETY: not kept in these tests: what they ask for is refused, or was leaked by them.
    unsafe { FrameBlock::from_raw(mm, pfn, order) }
}

#[test]
fn a_dropped_block_is_counted_and_a_leaked_one_is_not() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let block = mm.alloc(&Request::new(order(3))).unwrap();
    let zone = mm.zone(block.zone()).unwrap();
    drop(block);
    assert_eq!(zone.leaked(), 8);
    let pfn = mm.alloc(&Request::new(order(3))).unwrap().leak();
    assert_eq!(zone.leaked(), 8);
    let back = raw(&mm, pfn, order(3)).unwrap();
    let mut frames = back.into_frames();
    assert_eq!(frames.len(), 8);
    mm.free(frames.next().unwrap()).unwrap();
    drop(frames);
    assert_eq!(zone.leaked(), 15);
}

#[test]
fn aligned_parts_of_a_block_are_freed_by_themselves() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    mm.drain_all();
    let before = unused(&mm);
    let block = mm.alloc(&Request::new(order(9))).unwrap();
    let start = block.pfn();
    let (low, high) = block.into_halves().unwrap();
    assert_eq!((low.pfn(), high.pfn(), high.order()), (start, start + 256, order(8)));
    mm.free(high).unwrap();
    for (at, frame) in low.into_frames().enumerate() {
        assert_eq!(frame.pfn(), start + at as u64);
        let frame = frame.into_halves().unwrap_err();
        mm.free(frame).unwrap();
    }
    assert_eq!(unused(&mm), before);
    // Freed in pieces, it is whole again.
    mm.drain_all();
    let again = mm.alloc(&Request::new(order(9))).unwrap();
    mm.free(again).unwrap();
}

#[test]
fn the_raw_door_says_what_is_wrong_and_changes_nothing() {
    let machine = SimMachine::builder()
        .node(24 * MIB, 1)
        .node(8 * MIB, 1)
        .range(1, 40 * MIB, 44 * MIB)
        .build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let taken = mm.alloc(&Request::new(order(3))).unwrap();
    let pfn = taken.pfn();
    let before = unused(&mm);
    let refused = |pfn, order, error| assert_eq!(raw(&mm, pfn, order).unwrap_err(), error);

    let end = Pfn((44 * MIB) >> 12);
    refused(end, order(0), FreeError::OutOfRange { pfn: end });
    refused(Pfn(u64::MAX), order(0), FreeError::OutOfRange { pfn: Pfn(u64::MAX) });
    let hole = Pfn((34 * MIB) >> 12);
    refused(hole, order(0), FreeError::Hole { pfn: hole });
    refused(Pfn(0), order(0), FreeError::Reserved { pfn: Pfn(0) });
    let table = mm.zone_metadata().next().unwrap().1.start.pfn();
    refused(table, order(0), FreeError::Reserved { pfn: table });
    refused(pfn + 1, order(1), FreeError::Misaligned { pfn: pfn + 1, order: order(1) });
    let free = taken_free(&mm);
    refused(free, order(0), FreeError::AlreadyFree { pfn: free });
    assert_eq!(unused(&mm), before);

    // A block of order 3 of which half is free already.
    let mut quarters = taken.into_frames();
    (0..4).for_each(|_| mm.free(quarters.next().unwrap()).unwrap());
    mm.drain_all();
    let rest: Vec<_> = quarters.map(|frame| frame.leak()).collect();
    refused(pfn, order(3), FreeError::AlreadyFree { pfn });
    for frame in rest {
        let block = raw(&mm, frame, order(0)).unwrap();
        mm.free(block).unwrap();
    }
    // Freed, but still parked: only a search of the pagesets finds it.
    let parked = pfn + 7;
    if cfg!(any(feature = "checked", debug_assertions)) {
        refused(parked, order(0), FreeError::Parked { pfn: parked });
    }
    mm.drain_all();
    refused(parked, order(0), FreeError::AlreadyFree { pfn: parked });
}

/// A frame that is free in its zone.
fn taken_free(mm: &Mm<'_>) -> Pfn {
    let cpu = mm.pin();
    let zone = mm.zone(zone(0, ZoneKind::Dma)).unwrap();
    let managed = zone.ranges().iter().flat_map(|range| (range.start.0..range.end.0).map(Pfn));
    managed.into_iter().find(|&pfn| zone.is_free(cpu.token(), pfn)).unwrap()
}

#[test]
fn freeing_twice_through_the_raw_door_is_reported_by_the_second_free() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    // A single frame is parked: only a search of the pagesets finds it there.
    let searched = cfg!(any(feature = "checked", debug_assertions));
    for wanted in if searched { &[0, 3][..] } else { &[3] } {
        let wanted = *wanted;
        let pfn = mm.alloc(&Request::new(order(wanted))).unwrap().leak();
        let (one, other) =
            (raw(&mm, pfn, order(wanted)).unwrap(), raw(&mm, pfn, order(wanted)).unwrap());
        mm.free(one).unwrap();
        let before = unused(&mm);
        let error = mm.free(other).unwrap_err();
        assert!(matches!(error, FreeError::AlreadyFree { .. } | FreeError::Parked { .. }));
        assert_eq!(unused(&mm), before);
    }
    assert!(mm.zones().iter().all(|zone| zone.leaked() == 0));
}

#[test]
fn a_block_of_another_machine_is_foreign() {
    let machines = [two_nodes().build(), two_nodes().build()];
    let maps = [machines[0].map(), machines[1].map()];
    let mm = boot(&machines[0], &maps[0], Options::default());
    let other = boot(&machines[1], &maps[1], Options::default());
    let block = other.alloc(&PAGE).unwrap();
    let owner = other.zone(block.zone()).unwrap();
    assert_eq!(mm.free(block), Err(FreeError::Foreign));
    assert_eq!(owner.leaked(), 1);
}
