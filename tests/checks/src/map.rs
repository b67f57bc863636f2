//! What must hold of every node map.

use std::collections::BTreeSet;

use nearmem::alloc::zonelist::FallbackOrders;
use nearmem::finding::Kind;
use nearmem::firmware::slit::Slit;
use nearmem::ids::MAX_NODES;
use nearmem::topology::{
    CacheId, Cpu, HeapRoom, Inputs, NodeMap, NodeRange, NumaOption, Source, StorageNeeds,
    UnlistedCpus,
};
use nearmem::{CpuId, NodeId, Pfn, PhysAddr};

use crate::Collected;
use crate::seen::Seen;

/// Builds the map of `inputs` with the room that it needs, then with `short` room.
pub fn check(inputs: &Inputs<'_>, short: StorageNeeds) {
    let seen = Seen::of(inputs);
    let needs = StorageNeeds::of(inputs.srat, inputs.memory, inputs.cpus.len());
    let needs = needs.with_cedt(inputs.cedt).with_fake(inputs.fake.as_ref());
    let mut room = HeapRoom::new(needs);
    let mut found = Collected::default();
    let first = {
        let map = NodeMap::build(inputs, room.storage(), &mut found);
        check_findings(&map, inputs, &seen, &found);
        check_source(&map, inputs, &seen);
        check_nodes(&map, &seen);
        check_memory(&map, inputs, &seen, &found);
        check_cpus(&map, inputs, &seen);
        check_distances(&map, inputs, &seen);
        check_fallback(&map);
        outcome(&map)
    };
    // The same again is the same, whatever the room had in it.
    let mut again = Collected::default();
    let map = NodeMap::build(inputs, room.storage(), &mut again);
    assert_eq!(outcome(&map), first, "another map at the second time");
    assert_eq!(again, found, "other findings at the second time");
    check_short(inputs, short);
}

/// All that a map says, for comparing.
type Outcome = (Source, Vec<NodeRange>, Vec<Cpu>, [String; 5], Vec<u8>);

fn outcome(map: &NodeMap<'_>) -> Outcome {
    let nodes: Vec<_> = map.possible().iter().take(16).collect();
    let far = |&from| nodes.iter().map(move |&to| map.distance(from, to)).collect::<Vec<_>>();
    let sets =
        [map.possible(), map.online(), map.with_memory(), map.with_cpus(), map.with_initiators()];
    let sets = sets.map(|set| set.to_string());
    let distances = nodes.iter().flat_map(far).collect();
    (map.source(), map.ranges().to_vec(), map.cpus().to_vec(), sets, distances)
}

/// A bound for each thing that something can be said about.
fn check_findings(map: &NodeMap<'_>, inputs: &Inputs<'_>, seen: &Seen, found: &Collected) {
    let rows = inputs.slit.map_or(0, |bytes| bytes.len().isqrt());
    let nodes = map.possible().len().max(seen.domains.len());
    let windows = inputs.cedt.map_or(0, |bytes| bytes.len() / 4);
    let given = inputs.fake.map_or(0, |fake| fake.distances.iter().count());
    let most = 7 * seen.records + 5 * windows + rows + 5 * nodes + inputs.cpus.len() + given + 16;
    let length = |table: Option<&[u8]>| table.map_or(0, <[u8]>::len);
    found.check(
        most,
        &[
            ("SRAT", length(inputs.srat)),
            ("SLIT", length(inputs.slit)),
            ("CEDT", length(inputs.cedt)),
        ],
    );
    let limits = ["too-many-cpus", "too-many-ranges", "ranges-full", "distances-full"];
    let short = |name: &str| limits.iter().any(|limit| name.ends_with(limit));
    assert!(!found.kinds().any(|kind| short(kind.name())), "the room was to be enough");
}

fn check_source(map: &NodeMap<'_>, inputs: &Inputs<'_>, seen: &Seen) {
    let expected = match (inputs.numa, seen.accepted) {
        (NumaOption::Off, _) => Source::Off,
        (_, true) => Source::Srat,
        (_, false) => Source::None,
    };
    let split = inputs.fake.is_some() && map.source() == Source::Fake;
    assert!(map.source() == expected || split, "{:?} instead of {expected:?}", map.source());
    if !split {
        let uncovered = if seen.hulls.is_empty() { map.uncovered_bytes() } else { seen.uncovered };
        assert_eq!(map.uncovered_bytes(), uncovered);
    }
}

fn check_nodes(map: &NodeMap<'_>, seen: &Seen) {
    let possible = map.possible();
    match map.source() {
        Source::Srat => assert_eq!(possible.len(), seen.domains.len()),
        Source::Fake => assert!((1..=MAX_NODES).contains(&possible.len())),
        Source::Off | Source::None => assert_eq!(possible.to_string(), "0"),
    }
    for (number, &pxm) in seen.domains.iter().enumerate() {
        let node = NodeId(number as u16);
        assert_eq!(map.node_of_pxm(nearmem::ProximityDomain(pxm)), Some(node));
        let named = (map.source() == Source::Srat).then_some(pxm);
        assert_eq!(map.pxm(node).map(|pxm| pxm.0), named);
    }
    let within = [map.online(), map.with_memory(), map.with_initiators()];
    for (number, set) in within.into_iter().enumerate() {
        assert!(
            set.iter().all(|node| possible.contains(node)),
            "set {number}: {set} of {possible}"
        );
    }
    let memory: BTreeSet<_> = map.ranges().iter().map(|range| range.node).collect();
    assert!(map.with_memory().iter().eq(memory));
    if map.source() == Source::Srat {
        assert!(map.with_initiators().iter().eq(seen.initiators.iter().copied()));
    }
    for node in map.with_memory().iter().chain(map.with_initiators().iter()) {
        assert!(map.online().contains(node), "node {node} is not online");
    }
}

/// Every usable frame in exactly one node, and in the right one.
fn check_memory(map: &NodeMap<'_>, inputs: &Inputs<'_>, seen: &Seen, found: &Collected) {
    let usable = inputs.memory.usable();
    let ranges = map.ranges();
    for pair in ranges.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        assert!(a.frames.end <= b.frames.start, "{a:?} {b:?}");
        assert!(a.node != b.node || a.frames.end < b.frames.start, "not joined: {a:?} {b:?}");
    }
    for range in ranges {
        assert!(!range.frames.is_empty());
        let around = usable.partition_point(|usable| usable.end <= range.frames.start);
        let inside = usable.get(around).map(|usable| usable.intersect(range.frames).len());
        assert_eq!(inside, Some(range.frames.len()), "{range:?} is not usable");
        let last = Pfn(range.frames.end.0 - 1);
        assert_eq!(
            [range.frames.start, last].map(|frame| map.node_of(frame)),
            [Some(range.node); 2]
        );
    }
    let given: u64 = ranges.iter().map(|range| range.frames.len()).sum();
    let missing = inputs.memory.frames() - given;
    let split = found.kinds().map(|kind| match *kind {
        Kind::SratSplitFrames { frames } => frames,
        _ => 0,
    });
    let split: u64 = split.sum();
    let by_srat = seen.accepted && map.source() != Source::None;
    let most = if by_srat { seen.uncovered / 4096 } else { 0 };
    // Parts of one fake node may be joined over a frame that two nodes shared.
    let least = if map.source() == Source::Fake { 0 } else { split };
    assert!((least..=split + most).contains(&missing), "{missing} frames are gone");

    let borders = usable.iter().flat_map(|range| [range.start.0, range.end.0]);
    let hulls = seen.hulls.iter().flat_map(|(hull, _)| [hull.start.pfn().0, hull.end.pfn().0]);
    let parts = ranges.iter().flat_map(|range| [range.frames.start.0, range.frames.end.0]);
    let around = |at: u64| [at.saturating_sub(1), at, at + 1];
    for frame in borders.chain(hulls).chain(parts).flat_map(around) {
        let there = usable.iter().any(|range| range.contains(Pfn(frame)));
        let owner = match by_srat {
            true => seen.owner(frame),
            false => Some(NodeId(0)),
        };
        let node = map.node_of(Pfn(frame)).map(|node| map.whole(node));
        match map.source() {
            Source::Fake => assert!(node.is_some() || !there || owner.is_none(), "{frame:#x}"),
            _ => assert_eq!(node, owner.filter(|_| there), "frame {frame:#x}"),
        }
    }
    for pair in map.blocks().windows(2) {
        assert!(pair[0].range.end <= pair[1].range.start, "{pair:?}");
    }
    for block in map.blocks() {
        assert!(!block.range.is_empty() && block.range.end <= inputs.memory.end(), "{block:?}");
        assert_eq!(map.node_of_address(block.range.start), Some(block.node));
    }
    map.node_of_address(PhysAddr(u64::MAX));
}

fn check_cpus(map: &NodeMap<'_>, inputs: &Inputs<'_>, seen: &Seen) {
    assert!(map.cpus().iter().map(|cpu| cpu.apic).eq(inputs.cpus.iter().copied()));
    assert!(map.cpu_records().iter().map(|record| record.apic).eq(seen.cpus.keys().copied()));
    for (number, cpu) in map.cpus().iter().enumerate() {
        let id = CpuId(number as u16);
        assert_eq!(map.node_of_cpu(id), cpu.node);
        assert!(map.online().contains(cpu.node) && map.with_cpus().contains(cpu.node), "{cpu:?}");
        if number < 32 {
            assert!(map.cpus_of(cpu.node).any(|other| other == id), "{cpu:?}");
        }
        if map.source() == Source::Srat {
            assert_eq!(cpu.node, home(map, inputs, seen, number), "{cpu:?}");
        }
    }
    let counts = map.cpu_counts();
    for node in map.possible().iter().take(32) {
        assert_eq!(usize::from(counts[node.index()]), map.cpus_of(node).count(), "node {node}");
    }
    for record in map.cpu_records() {
        let node = match map.source() {
            Source::Srat => seen.cpus[&record.apic],
            Source::Fake => continue,
            Source::Off | Source::None => NodeId(0),
        };
        assert_eq!(record.node, node, "{record:?}");
    }
    // A tool that knows of no CPUs takes all listed ones; a boot has those that are there.
    if map.source() == Source::Srat {
        let listed = || seen.cpus.values().copied().collect::<BTreeSet<_>>();
        let present = || map.cpus().iter().map(|cpu| cpu.node).collect();
        let nodes = if inputs.cpus.is_empty() { listed() } else { present() };
        assert!(map.with_cpus().iter().eq(nodes));
    }
}

/// Where a CPU goes: by its record, or else as its vendor's code has it (reference: numa-discovery,
/// section 6).
fn home(map: &NodeMap<'_>, inputs: &Inputs<'_>, seen: &Seen, number: usize) -> NodeId {
    let apic = inputs.cpus[number];
    if let Some(&node) = seen.cpus.get(&apic) {
        return node;
    }
    let with_memory: Vec<_> = map.with_memory().iter().collect();
    let UnlistedCpus::ByCache(cache) = inputs.unlisted else {
        return with_memory[number % with_memory.len()];
    };
    let present = inputs.cpus.iter().filter_map(|apic| seen.cpus.get(apic));
    let online: BTreeSet<_> =
        present.chain(&with_memory).chain(&seen.initiators).copied().collect();
    let above = |shift: u32| u64::from(apic.0) >> shift.min(63);
    let cache = match cache {
        CacheId::Shift(shift) => above(shift),
        CacheId::Die { socket_shift, cpus, dies } => {
            let within = u64::from(apic.0) - (above(socket_shift) << socket_shift.min(63));
            above(socket_shift) * u64::from(dies) + within / u64::from(cpus.max(1))
        }
    };
    let near = seen.cpus.range(..apic).rev().chain(seen.cpus.range(apic..));
    let by_number = online.iter().find(|node| u64::from(node.0) == cache);
    let by_apic = near.map(|(_, node)| node).find(|node| online.contains(node));
    *by_number.or(by_apic).or(online.first()).unwrap()
}

fn check_distances(map: &NodeMap<'_>, inputs: &Inputs<'_>, seen: &Seen) {
    let slit = inputs.slit.and_then(|bytes| Slit::parse(bytes, &mut |_| ()));
    let nodes: Vec<_> = map.possible().iter().collect();
    let ends = nodes.iter().take(12).chain(nodes.iter().rev().take(4));
    for &from in ends.clone() {
        for &to in ends.clone() {
            let distance = map.distance(from, to);
            // A SLIT knows nothing of windows.
            let by_srat = |node: NodeId| map.pxm(node).filter(|_| node.index() < seen.named);
            let known = slit.zip(by_srat(from).zip(by_srat(to)));
            let known = known.and_then(|(slit, (from, to))| slit.distance(from, to));
            match map.source() {
                Source::Fake => assert!(if from == to { distance == 10 } else { distance >= 10 }),
                _ => {
                    let default = if from == to { 10 } else { 20 };
                    assert_eq!(distance, known.unwrap_or(default), "{from} to {to}");
                }
            }
        }
    }
    let none = NodeId(u16::MAX);
    assert_eq!((map.distance(none, none), map.distance(none, NodeId(0))), (10, 20));
}

/// Each node's list begins with itself and names every node with memory once.
fn check_fallback(map: &NodeMap<'_>) {
    if map.online().len() > 40 {
        return;
    }
    let with_memory = *map.with_memory();
    let mut orders = FallbackOrders::new(&with_memory, |from, to| map.distance(from, to));
    for node in map.online().iter() {
        let mut list = Vec::new();
        orders.list(node, |next| list.push(next));
        assert_eq!(list.first(), Some(&node));
        let distinct: BTreeSet<_> = list.iter().copied().collect();
        let mut expected: BTreeSet<_> = with_memory.iter().collect();
        expected.insert(node);
        assert_eq!((list.len(), distinct), (expected.len(), expected));
    }
}

/// With less room than is needed what fits is kept, in order.
fn check_short(inputs: &Inputs<'_>, needs: StorageNeeds) {
    let mut room = HeapRoom::new(needs);
    let mut found = Collected::default();
    let map = NodeMap::build(inputs, room.storage(), &mut found);
    assert!(map.ranges().len() <= needs.ranges && map.cpus().len() <= needs.cpus);
    assert_eq!(map.cpus().len() < inputs.cpus.len(), found.has("cpu-too-many"));
    for pair in map.ranges().windows(2) {
        assert!(pair[0].frames.end <= pair[1].frames.start, "{pair:?}");
    }
    let given: u64 = map.ranges().iter().map(|range| range.frames.len()).sum();
    assert!(given <= inputs.memory.frames());
    for range in map.ranges() {
        assert_eq!(map.node_of(range.frames.start), Some(range.node));
        assert!(map.with_memory().contains(range.node) && map.online().contains(range.node));
    }
    assert!(map.cpus().iter().all(|cpu| map.online().contains(cpu.node)));
    map.distance(NodeId(0), NodeId(1));
}
