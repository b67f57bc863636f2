//! The node map from the outside: rules by example, and properties on any input.

#[path = "topology/capacity.rs"]
mod capacity;
#[path = "topology/fake.rs"]
mod fake;
#[path = "topology/limits.rs"]
mod limits;
#[path = "topology/model.rs"]
mod model;
#[path = "topology/order.rs"]
mod order;
#[path = "topology/rules.rs"]
mod rules;
#[path = "topology/tables.rs"]
mod tables;
#[path = "topology/windows.rs"]
mod windows;

use nearmem::finding::Finding;
use nearmem::topology::{HeapRoom, Inputs, MemoryMap, NodeMap, Region, RegionKind, StorageNeeds};
use nearmem::{CpuId, NodeId, Pfn, PfnRange, PhysAddr, PhysRange};
use proptest::collection::vec;
use proptest::prelude::*;

use tables::{Machine, cpu, frames, initiator, memory, slit, srat, table};
use windows::cedt;

/// Ranges of a machine of some GiB, seldom aligned.
fn ranges() -> impl Strategy<Value = Vec<PhysRange>> {
    let range = (0u64..1 << 20, 0u64..1 << 19, any::<bool>()).prop_map(|(start, length, whole)| {
        let unit = if whole { 4096 } else { 3000 };
        PhysRange::new(start * unit, (start + length) * unit)
    });
    vec(range, 0..12)
}

/// A record of any sort; now and then bytes that are none.
fn record() -> impl Strategy<Value = Vec<u8>> {
    let range = ranges().prop_filter_map("one range", |ranges| ranges.first().copied());
    prop_oneof![
        4 => (0u32..5, range).prop_map(|(pxm, range)| memory(pxm, range)),
        3 => (0u32..6, 0u32..20).prop_map(|(pxm, apic)| cpu(pxm, apic)),
        1 => (any::<u32>()).prop_map(initiator),
        1 => (0u8..8, vec(any::<u8>(), 0..48)).prop_map(|(kind, body)| {
            [&[kind, body.len() as u8 + 2][..], &body].concat()
        }),
    ]
}

/// Everything that a map says, so that none of its answers panics, and what must hold of it.
fn look_at(map: &NodeMap<'_>, usable: &[PfnRange]) {
    let ranges = map.ranges();
    assert!(ranges.iter().all(|range| !range.frames.is_empty()));
    for pair in ranges.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        assert!(a.frames.end <= b.frames.start, "{a:?} {b:?}");
        assert!(a.node != b.node || a.frames.end < b.frames.start, "not joined: {a:?} {b:?}");
    }
    // No frame that is not usable, and no usable one lost but for what the map owns up to.
    let given: u64 = ranges.iter().map(|range| range.frames.len()).sum();
    let within = |range: PfnRange| -> u64 {
        usable.iter().map(|usable| usable.intersect(range).len()).sum()
    };
    assert_eq!(given, ranges.iter().map(|range| within(range.frames)).sum::<u64>());
    let total: u64 = usable.iter().map(|range| range.len()).sum();
    let borders = 2 * map.blocks().len() as u64;
    let refused = map.uncovered_bytes() >= 1 << 20 || map.blocks().is_empty();
    let missing = if refused { 0 } else { map.uncovered_bytes() / 4096 + borders };
    assert!(total - given <= missing, "{} of {total} frames are gone", total - given);

    let end = usable.last().map_or(PhysAddr(0), |range| range.end.addr());
    for pair in map.blocks().windows(2) {
        assert!(pair[0].range.end <= pair[1].range.start, "{pair:?}");
    }
    for block in map.blocks() {
        assert!(!block.range.is_empty() && block.range.end <= end, "{block:?}");
        assert_eq!(map.node_of_address(block.range.start), Some(block.node));
    }
    for range in ranges {
        assert_eq!(map.node_of(range.frames.start), Some(range.node));
        assert_eq!(map.node_of(Pfn(range.frames.end.0 - 1)), Some(range.node));
        assert!(map.with_memory().contains(range.node) && map.online().contains(range.node));
    }
    for node in map.online().iter() {
        assert!(map.possible().contains(node));
        let pxm = map.pxm(node);
        assert!(pxm.is_none_or(|pxm| map.node_of_pxm(pxm) == Some(node)));
    }
    for (number, cpu) in map.cpus().iter().enumerate() {
        assert!(map.online().contains(cpu.node));
        assert_eq!(map.node_of_cpu(CpuId(number as u16)), cpu.node);
    }
    for from in map.possible().iter().take(8) {
        for to in map.possible().iter().take(8) {
            assert_eq!(map.distance(from, to) == 10, map.whole(from) == map.whole(to));
        }
    }
    map.node_of_address(PhysAddr(u64::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 512 }))]

    #[test]
    fn random_bytes_never_panic(
        a in vec(any::<u8>(), 0..300),
        b in vec(any::<u8>(), 0..300),
        ram in ranges(),
    ) {
        let usable = frames(&ram);
        Machine { slit: Some(&b), ..Machine::new(&ram, &a) }.map(|map, _| look_at(map, &usable));
        let (a, b) = (table(b"SRAT", 3, &a), table(b"SLIT", 1, &b));
        Machine { slit: Some(&b), ..Machine::new(&ram, &a) }.map(|map, _| look_at(map, &usable));
    }

    #[test]
    fn any_records_give_every_frame_to_one_node(
        records in vec(record(), 0..24),
        ram in ranges(),
        revision in 0u8..4,
        cut in 0usize..30,
        distances in vec(any::<u8>(), 0..40),
        count in 0u64..7,
        cpus in vec(0u32..24, 0..12),
        windows in vec((0u64..1 << 33, 0u64..1 << 31), 0..4),
        cut_cedt in 0usize..40,
    ) {
        let usable = frames(&ram);
        let cedt = cedt(&windows);
        let cedt = &cedt[..cedt.len() - cut_cedt];
        let whole = srat(revision, &records);
        let bytes = &whole[..whole.len() - cut.min(whole.len())];
        let distances = slit(count, &distances);
        let cpus: Vec<_> = cpus.into_iter().map(nearmem::ApicId).collect();
        let machine =
            Machine { slit: Some(&distances), cedt: Some(cedt), cpus: &cpus, ..Machine::new(&ram, bytes) };
        machine.map(|map, seen| {
            look_at(map, &usable);
            // Never more nodes than domains and windows, and one for want of any.
            assert!(map.possible().len() <= records.len() + windows.len() + 1);
            assert_eq!(map.cpus().len(), cpus.len());
            for finding in &seen.findings {
                assert!(!finding.to_string().is_empty());
            }
        });
    }

    #[test]
    fn a_map_described_by_an_srat_gives_the_same_map(
        records in vec(record(), 0..24),
        ram in ranges(),
    ) {
        let whole = srat(2, &records);
        let (ranges, again) = Machine::new(&ram, &whole).map(|map, _| {
            // Nodes in their order, so that they get the same ids; ranges of one are apart only
            // where there is no memory or another node's.
            let mut again: Vec<_> =
                map.possible().iter().map(|node| cpu(node.0.into(), node.0.into())).collect();
            let ranges = map.ranges().to_vec();
            again.extend(ranges.iter().map(|r| memory(r.node.0.into(), r.frames.bytes())));
            (ranges, again)
        });
        let ram: Vec<_> = ranges.iter().map(|range| range.frames.bytes()).collect();
        Machine::new(&ram, &srat(2, &again)).map(|map, _| {
            assert_eq!(map.ranges(), ranges);
        });
    }

    #[test]
    fn the_order_of_memory_records_changes_ids_only(
        records in vec((0u32..4, ranges()), 0..6),
        ram in ranges(),
        turn in 0usize..20,
    ) {
        let mut records: Vec<_> = records
            .into_iter()
            .flat_map(|(pxm, ranges)| ranges.into_iter().map(move |range| memory(pxm, range)))
            .collect();
        let by_domain = |records: &[Vec<u8>]| {
            Machine::new(&ram, &srat(2, records)).map(|map, _| {
                let ranges = map.ranges().iter();
                ranges.map(|range| (range.frames, map.pxm(range.node))).collect::<Vec<_>>()
            })
        };
        let before = by_domain(&records);
        if !records.is_empty() {
            let turn = turn % records.len();
            records.rotate_left(turn);
        }
        records.reverse();
        prop_assert_eq!(before, by_domain(&records));
    }

    #[test]
    fn too_little_storage_keeps_what_fits_and_never_panics(
        records in vec(record(), 0..24),
        ram in ranges(),
        room in (0usize..4, 0usize..6, 0usize..4, 0usize..4, 0usize..6),
        fake_room in (0usize..6, 0usize..9),
        split in proptest::option::of(fake::any_split()),
    ) {
        let mut regions: Vec<_> =
            ram.iter().map(|&range| Region { range, kind: RegionKind::Usable }).collect();
        let mut usable = [PfnRange::default(); 4];
        let mut ignore = |_: Finding| ();
        let memory =
            MemoryMap::build(&mut regions, &mut usable, Default::default(), &mut ignore);
        let bytes = srat(2, &records);
        let apics: Vec<_> = (0..6).map(nearmem::ApicId).collect();
        let fake = split.and_then(fake::fake);
        let inputs = Inputs { srat: Some(&bytes), cpus: &apics, fake, ..Inputs::new(&memory) };
        let (nodes, ranges, cpus, records, blocks) = room;
        let (fake_nodes, fake_blocks) = fake_room;
        let needs =
            StorageNeeds { nodes, ranges, cpus, records, blocks, fake_nodes, fake_blocks };
        let mut room = HeapRoom::new(needs);
        let map = NodeMap::build(&inputs, room.storage(), &mut ignore);
        assert!(map.ranges().len() <= ranges && map.cpus().len() <= cpus);
        for range in map.ranges() {
            assert_eq!(map.node_of(range.frames.start), Some(range.node));
        }
        map.distance(NodeId(0), NodeId(1));
    }
}
