//! vmalloc on simulated machines: where pages lie, what is mapped, and that all comes back.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use nearmem::alloc::{
    Interleave, MemorySubsystem, Policy, Request, WeightedInterleave, interleave_nodes,
};
use nearmem::platform::{MapSize, PageTables};
use nearmem::sim::{SimMachine, SimPlatform};
use nearmem::vmalloc::{VfreeError, VmRequest, Vmalloc, VmallocError};
use nearmem::{CpuId, NodeId, NodeSet, Order, PAGE_SIZE, VirtAddr};
use proptest::prelude::*;

mod runs;

use runs::dealt;

type Memory<'m> = MemorySubsystem<'m, SimPlatform>;

const MIB: u64 = 1 << 20;

fn machine(nodes: u16, mib_each: u64) -> SimMachine {
    let builder = (0..nodes).fold(SimMachine::builder(), |b, _| b.node(mib_each * MIB, 1));
    builder.build()
}

/// Free frames, nothing parked.
fn free(mm: &Memory<'_>) -> u64 {
    mm.drain_all();
    mm.zones().iter().map(|zone| zone.free()).sum()
}

fn free_on(mm: &Memory<'_>, node: NodeId) -> u64 {
    mm.drain_all();
    mm.zones().iter().filter(|zone| zone.id().node == node).map(|zone| zone.free()).sum()
}

fn pages(
    vmalloc: &Vmalloc<'_, SimPlatform>,
    area: &nearmem::vmalloc::VmArea<'_>,
) -> Vec<(u16, u64)> {
    vmalloc.pages_by_node(&area.info()).map(|(node, pages)| (node.0, pages)).collect()
}

#[test]
fn the_batches_of_the_reference() {
    assert_eq!(dealt(2048, 3), [696, 676, 676]);
    assert_eq!(dealt(8192, 8), [1065, 1065, 1065, 1065, 983, 983, 983, 983]);
    assert_eq!(dealt(256, 4), [64; 4]);
    assert_eq!(dealt(512, 4), [128; 4]);
}

#[test]
fn areas_lie_first_fit_with_a_guard_page_and_hold_what_is_written() {
    let machine = machine(1, 32);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let base = machine.platform().vmalloc_range().start;

    let one = vmalloc.alloc(&VmRequest::new(1).named("one")).unwrap();
    let two = vmalloc.alloc(&VmRequest::new(5 * PAGE_SIZE).zeroed()).unwrap();
    assert_eq!((one.start(), one.bytes()), (base, PAGE_SIZE));
    assert_eq!(two.start(), base + 2 * PAGE_SIZE);
    let words = two.as_ptr::<u64>();
    let count = (two.bytes() / 8) as usize;
    // SAFETY: the area has that many words, and nobody else uses it.
    unsafe {
        assert!((0..count).all(|at| words.add(at).read() == 0));
        (0..count).for_each(|at| words.add(at).write(at as u64));
        assert!((0..count).all(|at| words.add(at).read() == at as u64));
    }
    for area in [&one, &two] {
        let guard = area.start() + area.bytes();
        assert_eq!(machine.platform().translate(guard), None, "the guard faults");
    }
    let seen: Vec<_> =
        vmalloc.areas().map(|area| (area.start, area.caller, area.pages())).collect();
    assert_eq!(seen, [(one.start(), "one", 1), (two.start(), "", 5)]);
    assert_eq!(vmalloc.areas().next().unwrap().bytes_with_guard(), 2 * PAGE_SIZE);

    let start = one.start();
    vmalloc.free(one).unwrap();
    assert_eq!(machine.platform().translate(start), None, "gone at once");
    assert_eq!(vmalloc.alloc(&VmRequest::new(1)).unwrap().leak(), start, "lowest address again");
}

#[test]
fn interleaved_pages_are_dealt_in_runs() {
    for (nodes, pages_wanted) in [(1, 300), (2, 512), (3, 2048), (4, 1024), (8, 8192), (5, 7)] {
        let machine = machine(nodes, 24);
        let map = machine.map();
        let mm = machine.start(&map, Default::default());
        let vmalloc = Vmalloc::new(&mm);
        let turns = Interleave::new(interleave_nodes(&map));
        let policy = Policy::Interleave(&turns);
        let request = VmRequest::new(pages_wanted * PAGE_SIZE).on(policy);
        let area = vmalloc.alloc(&request).unwrap();

        let expected = dealt(pages_wanted, u64::from(nodes));
        let counts = pages(&vmalloc, &area);
        let on = |node: u16| counts.iter().find(|entry| entry.0 == node).map_or(0, |entry| entry.1);
        let counts: Vec<u64> = (0..nodes).map(on).collect();
        assert_eq!(counts, expected, "{nodes} nodes");
        assert_eq!(turns.peek(), Some(NodeId(0)), "a batch moves the turn once around");
        // Within a batch the pages of a node are neighbours.
        let node_at = |page| {
            let leaf = machine.platform().translate(area.start() + page * PAGE_SIZE).unwrap();
            map.node_of(leaf.pfn).unwrap().0
        };
        let first_batch: Vec<u16> = (0..pages_wanted.min(100)).map(node_at).collect();
        assert!(first_batch.is_sorted(), "{first_batch:?}");
        vmalloc.free(area).unwrap();
    }
}

#[test]
fn a_batch_begins_with_the_node_whose_turn_it_is() {
    let machine = machine(4, 24);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let turns = Interleave::new(*map.with_memory());
    turns.step();
    turns.step();
    let request = VmRequest::new(101 * PAGE_SIZE).on(Policy::Interleave(&turns));
    let area = vmalloc.alloc(&request).unwrap();
    assert_eq!(pages(&vmalloc, &area), [(0, 25), (1, 25), (2, 26), (3, 25)]);
    assert_eq!(turns.peek(), Some(NodeId(2)));
    vmalloc.free(area).unwrap();
}

#[test]
fn weights_share_out_the_pages() {
    let machine = machine(3, 24);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let turns = WeightedInterleave::new(*map.with_memory(), &[4, 1, 2]);
    let request = VmRequest::new(703 * PAGE_SIZE).on(Policy::WeightedInterleave(&turns));
    let area = vmalloc.alloc(&request).unwrap();
    assert_eq!(pages(&vmalloc, &area), [(0, 403), (1, 100), (2, 200)]);
    vmalloc.free(area).unwrap();
}

#[test]
fn a_preferred_node_serves_while_it_has_memory_then_others() {
    let machine = machine(3, 24);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let on = |node| Policy::Preferred(NodeId(node));
    let area = vmalloc.alloc(&VmRequest::new(4 * MIB).on(on(2))).unwrap();
    assert_eq!(pages(&vmalloc, &area), [(2, 1024)]);
    let large = vmalloc.alloc(&VmRequest::new(30 * MIB).on(on(2))).unwrap();
    let counts = pages(&vmalloc, &large);
    assert_eq!(counts.iter().map(|entry| entry.1).sum::<u64>(), 30 * 256);
    assert!(counts.len() > 1 && counts.last().unwrap().1 > 4500, "{counts:?}");
    vmalloc.free(area).unwrap();
    vmalloc.free(large).unwrap();

    let set = NodeSet::of(NodeId(1));
    let bound = vmalloc.alloc(&VmRequest::new(MIB).on(Policy::Bind(&set))).unwrap();
    assert_eq!(pages(&vmalloc, &bound), [(1, 256)]);
    vmalloc.free(bound).unwrap();
    let local = machine.run_on(CpuId(2), || vmalloc.alloc(&VmRequest::new(MIB)).unwrap());
    assert_eq!(pages(&vmalloc, &local), [(2, 256)]);
    vmalloc.free(local).unwrap();
}

#[test]
fn an_exhausted_node_breaks_the_runs_but_not_the_area() {
    let machine = machine(4, 24);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let before = free(&mm);
    // Node 1 down to its low mark.
    let mut held = Vec::new();
    while mm.alloc_bulk(NodeId(1), 8, &mut |block| held.push(block)) == 8 {}
    let left = free_on(&mm, NodeId(1));

    let turns = Interleave::new(*map.with_memory());
    let request = VmRequest::new(1024 * PAGE_SIZE).on(Policy::Interleave(&turns));
    let area = vmalloc.alloc(&request).unwrap();
    let counts = pages(&vmalloc, &area);
    assert_eq!(counts.iter().map(|entry| entry.1).sum::<u64>(), 1024);
    let on_one = counts.iter().find(|entry| entry.0 == 1).map_or(0, |entry| entry.1);
    assert!(on_one <= left && on_one < 64, "{counts:?}");
    vmalloc.free(area).unwrap();
    held.into_iter().for_each(|block| mm.free(block).unwrap());
    assert_eq!(free(&mm), before);
}

#[test]
fn large_leaves_appear_exactly_where_every_node_gets_one() {
    let machine = machine(4, 32);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let before = free(&mm);
    let turns = Interleave::new(*map.with_memory());
    let policy = Policy::Interleave(&turns);

    let small = vmalloc.alloc(&VmRequest::new(8 * MIB - 1).on(policy).huge()).unwrap();
    assert_eq!((small.info().leaf, small.pages()), (MapSize::Small, 2048));
    let huge = vmalloc.alloc(&VmRequest::new(8 * MIB).on(policy).huge().zeroed()).unwrap();
    assert_eq!(huge.info().leaf, MapSize::Huge);
    assert_eq!(huge.start().0 % (2 * MIB), 0);
    assert_eq!(pages(&vmalloc, &huge), [(0, 512), (1, 512), (2, 512), (3, 512)]);
    // SAFETY: the area has 8 MiB, which nobody else uses.
    unsafe {
        let bytes = huge.as_ptr::<u8>();
        assert!((0..8 * MIB as usize).step_by(4096).all(|at| bytes.add(at).read() == 0));
        bytes.add(8 * MIB as usize - 1).write(1);
    }
    let rounded = vmalloc.alloc(&VmRequest::new(8 * MIB + 1).on(policy).huge()).unwrap();
    assert_eq!(rounded.pages(), 5 * 512);
    let node = Policy::Preferred(NodeId(3));
    let one = vmalloc.alloc(&VmRequest::new(2 * MIB).on(node).huge()).unwrap();
    assert_eq!((one.info().leaf, pages(&vmalloc, &one)), (MapSize::Huge, vec![(3, 512)]));
    for area in [small, huge, rounded, one] {
        vmalloc.free(area).unwrap();
    }
    assert_eq!((free(&mm), machine.table_frames()), (before, 0));
}

#[test]
fn without_large_blocks_the_whole_area_is_of_small_pages() {
    let machine = machine(2, 16);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let before = free(&mm);
    // One frame of every 2 MiB stays taken.
    let mut held = Vec::new();
    while let Ok(block) = mm.alloc(&Request::new(Order::HUGE)) {
        let mut frames = block.into_frames();
        held.extend(frames.next());
        frames.for_each(|frame| mm.free(frame).unwrap());
    }
    mm.drain_all();
    assert!(mm.alloc(&Request::new(Order::HUGE)).is_err());
    let turns = Interleave::new(*map.with_memory());
    let request = VmRequest::new(4 * MIB).on(Policy::Interleave(&turns)).huge();
    let area = vmalloc.alloc(&request).unwrap();
    assert_eq!(area.info().leaf, MapSize::Small);
    vmalloc.free(area).unwrap();
    held.into_iter().for_each(|block| mm.free(block).unwrap());
    assert_eq!(free(&mm), before);
}

#[test]
fn frames_and_addresses_go_nowhere_before_the_flush() {
    let machine = machine(2, 24);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let area = vmalloc.alloc(&VmRequest::new(MIB)).unwrap();
    let mut frames = BTreeSet::new();
    for page in 0..256 {
        let leaf = machine.platform().translate(area.start() + page * PAGE_SIZE).unwrap();
        frames.insert(leaf.pfn);
    }
    machine.take_flushes();
    let (start, end) = (area.start(), area.start() + area.bytes());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let platform = machine.platform();
    machine.on_flush({
        let seen = Arc::clone(&seen);
        move |range| seen.lock().unwrap().push((range, platform.translate(start)))
    });
    let zones: Vec<u64> = mm.zones().iter().map(|zone| zone.free()).collect();
    let free_before = Arc::new(AtomicU64::new(zones.iter().sum()));
    vmalloc.free(area).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(start..end, None)], "unmapped, then flushed, once");
    assert_eq!(machine.take_flushes(), [start..end]);
    assert!(free(&mm) > free_before.load(Ordering::Relaxed));
    let again = vmalloc.alloc(&VmRequest::new(MIB)).unwrap();
    assert_eq!(again.start(), start);
    assert!(machine.take_flushes().is_empty(), "mapping what was not there needs no flush");
    vmalloc.free(again).unwrap();
}

#[test]
fn failure_half_way_leaves_nothing_behind() {
    let machine = machine(2, 16);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let before = free(&mm);
    let memory = mm.zones().iter().map(|zone| zone.managed()).sum::<u64>() * PAGE_SIZE;
    for policy in [Policy::Local, Policy::Preferred(NodeId(1))] {
        let request = VmRequest::new(memory).on(policy);
        assert!(matches!(vmalloc.alloc(&request), Err(VmallocError::NoFrame(_))));
        assert!(matches!(vmalloc.alloc(&request.huge()), Err(VmallocError::NoFrame(_))));
    }
    let turns = Interleave::new(*map.with_memory());
    let request = VmRequest::new(memory).on(Policy::Interleave(&turns)).huge();
    assert!(matches!(vmalloc.alloc(&request), Err(VmallocError::NoFrame(_))));
    let nobody = VmRequest::new(MIB).on(Policy::Bind(&NodeSet::EMPTY));
    assert!(matches!(vmalloc.alloc(&nobody), Err(VmallocError::NoFrame(_))));
    assert_eq!((free(&mm), machine.table_frames()), (before, 0));
    assert_eq!((vmalloc.area_count(), vmalloc.lost_areas()), (0, 0));
}

#[test]
fn absurd_requests_are_errors() {
    let machine = machine(1, 16);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    assert_eq!(vmalloc.alloc(&VmRequest::new(0)).unwrap_err(), VmallocError::Empty);
    for bytes in [17 * MIB, u64::MAX, 1 << 63] {
        let error = vmalloc.alloc(&VmRequest::new(bytes).huge()).unwrap_err();
        assert!(matches!(error, VmallocError::TooLarge { .. }), "{error}");
    }
    let at = VirtAddr(0x1000);
    // SAFETY: nothing is there, which is what is tested.
    assert_eq!(unsafe { vmalloc.from_raw(at) }.unwrap_err(), VfreeError::NoArea { at });
}

#[test]
fn an_area_is_freed_by_its_own_vmalloc_or_found_by_its_address() {
    let (ours, others) = (machine(1, 16), machine(1, 16));
    let (map, other_map) = (ours.map(), others.map());
    let mm = ours.start(&map, Default::default());
    let other_mm = others.start(&other_map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let other = Vmalloc::new(&other_mm);
    let before = free(&mm);
    let area = vmalloc.alloc(&VmRequest::new(MIB)).unwrap();
    let start = area.start();
    assert_eq!(other.free(area), Err(VfreeError::Foreign));
    assert_eq!(vmalloc.lost_areas(), 1);
    // SAFETY: the area was lost just now, so nobody claims it.
    let area = unsafe { vmalloc.from_raw(start) }.unwrap();
    vmalloc.free(area).unwrap();
    assert_eq!(free(&mm), before);
}

#[test]
fn cpus_allocate_and_free_at_the_same_time() {
    let machine = machine(2, 48);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let before = free(&mm);
    std::thread::scope(|scope| {
        for cpu in 0..2 {
            let (machine, mm, vmalloc) = (&machine, &mm, &vmalloc);
            scope.spawn(move || {
                machine.run_on(CpuId(cpu), || {
                    mm.set_online(CpuId(cpu));
                    for round in 1..60_u64 {
                        let bytes = round % 7 * 300_000 + 1;
                        let area = vmalloc.alloc(&VmRequest::new(bytes)).unwrap();
                        // SAFETY: the area has that many bytes, and nobody else uses it.
                        unsafe {
                            area.as_ptr::<u8>().write_bytes(cpu as u8, bytes as usize);
                            let last = area.as_ptr::<u8>().add(bytes as usize - 1);
                            assert_eq!(last.read(), cpu as u8);
                        }
                        vmalloc.free(area).unwrap();
                    }
                    mm.set_offline(&mm.pin());
                });
            });
        }
    });
    assert_eq!(vmalloc.area_count(), 0);
    // Two that free next to each other may leave each other's tables; the next who frees takes them.
    vmalloc.free(vmalloc.alloc(&VmRequest::new(1)).unwrap()).unwrap();
    assert!(machine.table_frames() <= 4);
    assert_eq!(free(&mm) + machine.table_frames(), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 24 }))]

    #[test]
    fn all_comes_back_whatever_was_done(
        nodes in 1..5_u16,
        steps in proptest::collection::vec((1..3000_u64, 0..4_u8, any::<bool>(), any::<u8>()), 1..40),
    ) {
        let machine = machine(nodes, 16);
        let map = machine.map();
        let mm = machine.start(&map, Default::default());
        let vmalloc = Vmalloc::new(&mm);
        let before: Vec<u64> = map.online().iter().map(|node| free_on(&mm, node)).collect();
        let turns = Interleave::new(*map.with_memory());
        let mut areas = Vec::new();
        for (kib, policy, huge, which) in steps {
            if which % 3 == 0 && !areas.is_empty() {
                let area = areas.swap_remove(usize::from(which) % areas.len());
                vmalloc.free(area).unwrap();
                continue;
            }
            let policy = match policy {
                0 => Policy::Local,
                1 => Policy::Preferred(NodeId(u16::from(which) % nodes)),
                _ => Policy::Interleave(&turns),
            };
            let request = VmRequest { allow_huge: huge, ..VmRequest::new(kib * 1024).on(policy) };
            if let Ok(area) = vmalloc.alloc(&request) {
                let sum: u64 = pages(&vmalloc, &area).iter().map(|entry| entry.1).sum();
                prop_assert_eq!(sum, area.pages());
                let guard = area.start() + area.bytes();
                prop_assert_eq!(machine.platform().translate(guard), None);
                areas.push(area);
            }
        }
        let infos: Vec<_> = vmalloc.areas().collect();
        prop_assert_eq!(infos.len(), areas.len());
        for pair in infos.windows(2) {
            prop_assert!(pair[0].start + pair[0].bytes_with_guard() <= pair[1].start);
        }
        for area in areas {
            vmalloc.free(area).unwrap();
        }
        let after: Vec<u64> = map.online().iter().map(|node| free_on(&mm, node)).collect();
        prop_assert_eq!(before, after);
        prop_assert_eq!(machine.table_frames(), 0);
        prop_assert_eq!(vmalloc.area_count(), 0);
    }
}
