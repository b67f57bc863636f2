//! Every kind of misuse that is found out, and that nothing changes by it.

use nearmem::alloc::{FrameBlock, NumaCounters, Request};
use nearmem::sim::SimMachine;
use nearmem::zone::{FreeError, Zone};
use nearmem::{CpuId, Order, Pfn};

use crate::machines::{MIB, Mm, PAGE, order, take_all, two_nodes, up, without_marks};

/// All that misuse could change.
fn state(mm: &Mm<'_>) -> Vec<(u64, u64, u64, u64, Vec<u64>, NumaCounters)> {
    let cpu = mm.pin();
    let blocks =
        |zone: &Zone<'_>| Order::all().map(|order| zone.blocks(cpu.token(), order)).collect();
    mm.zones()
        .iter()
        .map(|zone| {
            let id = zone.id();
            let counters = mm.zone_counters(id);
            let counts = (zone.free(), mm.parked_in(id), zone.managed(), zone.leaked());
            (counts.0, counts.1, counts.2, counts.3, blocks(zone), counters)
        })
        .collect()
}

/// The raw door, and then the free: which of the two says no does not matter here.
fn misuse(mm: &Mm<'_>, pfn: Pfn, order: Order) -> Result<(), FreeError> {
    // SAFETY: not kept: what these tests ask for is refused.
    let block = unsafe { FrameBlock::from_raw(mm, pfn, order) };
    block.and_then(|block| mm.free(block))
}

/// Two nodes; node 1 has a hole of 8 MiB, which begins and ends within a block of order 10.
fn with_holes() -> SimMachine {
    SimMachine::builder()
        .node(24 * MIB, 1)
        .node(0, 1)
        .range(1, 24 * MIB, 33 * MIB)
        .range(1, 41 * MIB, 43 * MIB + 0x3000)
        .build()
}

const fn at(mib: u64) -> Pfn {
    Pfn((mib << 20) >> 12)
}

#[test]
fn frames_that_no_zone_has() {
    let machine = with_holes();
    let map = machine.map();
    let mm = up(&machine, &map);
    let before = state(&mm);
    let end = at(43) + 3;
    for pfn in [end, at(44), at(4096), Pfn(1 << 40), Pfn(1 << 52), Pfn(u64::MAX)] {
        assert_eq!(misuse(&mm, pfn, order(0)), Err(FreeError::OutOfRange { pfn }));
    }
    for pfn in [at(33), at(40), Pfn(at(41).0 - 1)] {
        assert_eq!(misuse(&mm, pfn, order(0)), Err(FreeError::Hole { pfn }));
    }
    assert_eq!(state(&mm), before);
}

/// The block begins well and ends elsewhere: the first frame that is wrong is named.
#[test]
fn blocks_that_reach_beyond() {
    let machine = with_holes();
    let map = machine.map();
    let mm = up(&machine, &map);
    without_marks(&mm);
    let taken = take_all(&mm, &PAGE);
    mm.drain_all();
    let before = state(&mm);
    let (hole, end) = (at(33), at(43) + 3);
    assert_eq!(misuse(&mm, at(32), order(9)), Err(FreeError::Hole { pfn: hole }));
    assert_eq!(misuse(&mm, at(43), order(2)), Err(FreeError::OutOfRange { pfn: end }));
    assert_eq!(misuse(&mm, Pfn(0), order(3)), Err(FreeError::Reserved { pfn: Pfn(0) }));
    assert_eq!(state(&mm), before);
    taken.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn frames_that_were_never_handed_over() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let before = state(&mm);
    let metadata: Vec<Pfn> = mm.zone_metadata().map(|(_, range)| range.start.pfn()).collect();
    let cpu_block = mm.cpu_block(CpuId(0)).unwrap().start.pfn();
    for pfn in metadata.into_iter().chain([Pfn(0), cpu_block]) {
        assert_eq!(misuse(&mm, pfn, order(0)), Err(FreeError::Reserved { pfn }));
    }
    assert_eq!(state(&mm), before);
}

#[test]
fn blocks_that_are_free_already_whole_or_in_part() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    for wanted in Order::all() {
        let block = mm.alloc(&Request::new(wanted)).unwrap();
        let pfn = block.pfn();
        mm.free(block).unwrap();
        mm.drain_all();
        let before = state(&mm);
        assert_eq!(misuse(&mm, pfn, wanted), Err(FreeError::AlreadyFree { pfn }), "{wanted:?}");
        assert_eq!(state(&mm), before);
    }
    // All taken but the last frame of each block.
    for wanted in Order::all().skip(1) {
        let block = mm.alloc(&Request::new(wanted)).unwrap();
        let (pfn, last) = (block.pfn(), block.pfn() + (wanted.pages() - 1));
        let mut frames: Vec<_> = block.into_frames().collect();
        mm.free(frames.pop().unwrap()).unwrap();
        mm.drain_all();
        let before = state(&mm);
        assert_eq!(misuse(&mm, pfn, wanted), Err(FreeError::AlreadyFree { pfn: last }));
        assert_eq!(state(&mm), before);
        frames.into_iter().for_each(|frame| mm.free(frame).unwrap());
    }
}

#[test]
fn blocks_that_do_not_begin_where_they_are_said_to() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    let block = mm.alloc(&Request::new(Order::MAX)).unwrap();
    let before = state(&mm);
    for wanted in Order::all().skip(1) {
        for pfn in [block.pfn() + 1, block.pfn() + wanted.pages() / 2] {
            let misaligned = FreeError::Misaligned { pfn, order: wanted };
            assert_eq!(misuse(&mm, pfn, wanted), Err(misaligned));
        }
    }
    assert_eq!(state(&mm), before);
    mm.free(block).unwrap();
}

/// With feature `checked`: in whichever CPU's pageset, and also for a block of which it is part.
#[test]
fn frames_that_are_parked() {
    let machine = two_nodes().build();
    let map = machine.map();
    let mm = up(&machine, &map);
    mm.drain_all();
    let block = mm.alloc(&Request::new(order(2))).unwrap();
    let pfn = block.pfn();
    let mut frames: Vec<_> = block.into_frames().collect();
    let third = frames.remove(2);
    machine.run_on(CpuId(1), || mm.free(third).unwrap());
    let before = state(&mm);
    for (first, wanted) in [(pfn + 2, 0), (pfn + 2, 1), (pfn, 2)] {
        let parked = Err(FreeError::Parked { pfn: pfn + 2 });
        assert_eq!(misuse(&mm, first, order(wanted)), parked);
    }
    assert_eq!(state(&mm), before);
    frames.into_iter().for_each(|frame| mm.free(frame).unwrap());
    machine.run_on(CpuId(1), || mm.drain_local(&mm.pin()));
}

#[test]
fn blocks_of_another_subsystem() {
    let machines = [two_nodes().build(), two_nodes().build()];
    let maps = [machines[0].map(), machines[1].map()];
    let (mm, other) = (up(&machines[0], &maps[0]), up(&machines[1], &maps[1]));
    for wanted in [0, 4] {
        let before = state(&mm);
        let block = other.alloc(&Request::new(order(wanted))).unwrap();
        let leaked = other.zone(block.zone()).unwrap().leaked();
        let id = block.zone();
        assert_eq!(mm.free(block), Err(FreeError::Foreign));
        assert_eq!(other.zone(id).unwrap().leaked(), leaked + (1 << wanted), "it is its owner's");
        assert_eq!(state(&mm), before);
    }
}
