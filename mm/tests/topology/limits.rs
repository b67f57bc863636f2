//! What is said, and what is kept, when there is more than there is room for.

use nearmem::finding::Finding;
use nearmem::topology::{HeapRoom, Inputs, MemoryMap, NodeMap, Region, RegionKind, StorageNeeds};
use nearmem::{ApicId, PfnRange, PhysRange};

use super::tables::{cpu, initiator, memory, srat};

const MIB: u64 = 1 << 20;

/// Four nodes of 8 MiB, two CPUs on each, and what a map takes for them.
fn four_nodes() -> (Vec<u8>, StorageNeeds) {
    let cpus = (0..8).map(|apic| cpu(apic / 2, apic));
    let ranges = (0..4).map(|node| {
        memory(node, PhysRange::new(u64::from(node) * 8 * MIB, (u64::from(node) + 1) * 8 * MIB))
    });
    let needs = StorageNeeds {
        nodes: 4,
        ranges: 4,
        cpus: 8,
        records: 8,
        blocks: 4,
        ..StorageNeeds::default()
    };
    (srat(2, &cpus.chain(ranges).collect::<Vec<_>>()), needs)
}

/// The findings that a map in so little room makes, as text by name, and what `look` sees.
fn in_room<R>(needs: StorageNeeds, look: impl FnOnce(&NodeMap<'_>) -> R) -> (Vec<String>, R) {
    let (table, _) = four_nodes();
    let mut regions = [Region::new(0, 32 * MIB, RegionKind::Usable)];
    let mut usable = [PfnRange::default(); 1];
    let memory = MemoryMap::build(&mut regions, &mut usable, Default::default(), &mut |_| ());
    let apics: Vec<_> = (0..8).map(ApicId).collect();
    let inputs = Inputs { srat: Some(&table), cpus: &apics, ..Inputs::new(&memory) };
    let mut found = Vec::new();
    let mut sink = |finding: Finding| found.push(format!("{}: {finding}", finding.kind.name()));
    let mut room = HeapRoom::new(needs);
    let map = NodeMap::build(&inputs, room.storage(), &mut sink);
    let seen = look(&map);
    (found, seen)
}

fn says(found: &[String], text: &str) {
    assert!(found.iter().any(|line| line.starts_with(text)), "{text}\n{found:#?}");
}

#[test]
fn enough_room_says_nothing() {
    let (found, ranges) = in_room(four_nodes().1, |map| map.ranges().len());
    assert_eq!(
        (ranges, found),
        (4, vec!["slit-absent: SLIT: there is no SLIT: distances are 10 and 20".into()])
    );
}

#[test]
fn cpu_records_beyond_the_room_are_named_once() {
    let needs = StorageNeeds { records: 3, ..four_nodes().1 };
    let (found, records) = in_room(needs, |map| map.cpu_records().len());
    says(&found, "srat-too-many-cpus: SRAT, record 3 at 0x78: there is room for 3 CPU records");
    assert_eq!(records, 3);
    assert_eq!(found.iter().filter(|line| line.starts_with("srat-too-many-cpus")).count(), 1);
    // Those without a record are dealt like any other.
    says(&found, "cpu-without-record: CPU 3 (APIC 0x03) is in no SRAT record");
}

#[test]
fn memory_records_beyond_the_room_are_named_and_leave_memory_without_a_node() {
    let (found, _) = in_room(StorageNeeds { blocks: 3, ..four_nodes().1 }, |_| ());
    says(&found, "srat-too-many-ranges: SRAT, record 11");
    says(&found, "srat-uncovered-ram: SRAT: 8388608 bytes of usable memory, from 0x1800000 on");
    says(&found, "srat-rejected");
}

#[test]
fn ranges_beyond_the_room_are_counted_in_frames() {
    let needs = StorageNeeds { ranges: 3, ..four_nodes().1 };
    let (found, ranges) = in_room(needs, |map| map.ranges().len());
    says(
        &found,
        "node-ranges-full: there is room for 3 ranges of memory: 2048 frames are left out",
    );
    assert_eq!(ranges, 3);
}

#[test]
fn cpus_beyond_the_room_are_left_out() {
    let (found, cpus) = in_room(StorageNeeds { cpus: 5, ..four_nodes().1 }, |map| map.cpus().len());
    says(&found, "cpu-too-many: 8 CPUs are present and there is room for 5");
    assert_eq!(cpus, 5);
}

#[test]
fn domains_beyond_the_room_get_no_node() {
    // Room for distances goes with that for nodes.
    let (found, _) = in_room(StorageNeeds { nodes: 3, ..four_nodes().1 }, |_| ());
    says(&found, "srat-too-many-domains: SRAT, record 6 at 0xc0: domain 3 gets no node, all 3");
}

#[test]
fn without_room_for_distances_they_are_10_and_20() {
    let (table, needs) = four_nodes();
    let mut regions = [Region::new(0, 32 * MIB, RegionKind::Usable)];
    let mut usable = [PfnRange::default(); 1];
    let memory = MemoryMap::build(&mut regions, &mut usable, Default::default(), &mut |_| ());
    let inputs = Inputs { srat: Some(&table), ..Inputs::new(&memory) };
    let mut room = HeapRoom::new(needs);
    let mut storage = room.storage();
    storage.distances = &mut [];
    let mut names = Vec::new();
    let mut sink = |finding: Finding| names.push(finding.kind.name());
    let map = NodeMap::build(&inputs, storage, &mut sink);
    assert_eq!([0, 1].map(|to| map.distance(nearmem::NodeId(0), nearmem::NodeId(to))), [10, 20]);
    assert!(names.contains(&"node-distances-full"));
}

#[test]
fn an_initiator_without_flags_is_named() {
    let mut short = initiator(1);
    short.truncate(24);
    short[1] = 24;
    let ram = [PhysRange::new(0, 8 * MIB)];
    let table = srat(2, &[short, memory(0, ram[0])]);
    super::tables::Machine::new(&ram, &table).map(|map, seen| {
        assert_eq!(map.possible().to_string(), "0");
        assert_eq!(seen.names()[0], "srat-initiator-short");
    });
}
