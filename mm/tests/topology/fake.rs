//! `numa=fake`: nodes split into fake ones. What Linux makes of the same options on QEMU machines
//! is compared elsewhere (`tests/data/oracle`, `oracle-maps`); here are the rules one by one.

use nearmem::topology::{FakeDistances, FakeNodes, NodeMap, NumaOption, Source, Split};
use nearmem::{ApicId, CpuId, NodeId, PfnRange, PhysAddr, PhysRange};
use proptest::prelude::*;

use super::tables::{Machine, Seen, cpu, memory, slit, srat};
use super::{frames, ranges, record};

const MIB: u64 = 1 << 20;

fn mib(start: u64, end: u64) -> PhysRange {
    PhysRange::new(start * MIB, end * MIB)
}

pub fn fake(split: Split) -> Option<FakeNodes<'static>> {
    fake_at(split, "")
}

fn fake_at(split: Split, distances: &str) -> Option<FakeNodes<'_>> {
    Some(FakeNodes { split, distances: FakeDistances::parse(distances).unwrap() })
}

/// Node and range in MiB of every range of memory.
fn dealt(map: &NodeMap<'_>) -> Vec<(u16, u64, u64)> {
    let mib = |range: PhysRange| (range.start.0 / MIB, range.end.0 / MIB);
    map.ranges()
        .iter()
        .map(|range| (range.node.0, mib(range.frames.bytes()).0, mib(range.frames.bytes()).1))
        .collect()
}

fn cpus(map: &NodeMap<'_>) -> Vec<Vec<u16>> {
    map.online().iter().map(|node| map.cpus_of(node).map(|cpu| cpu.0).collect()).collect()
}

fn distances(map: &NodeMap<'_>) -> Vec<Vec<u8>> {
    let nodes: Vec<_> = map.possible().iter().collect();
    nodes.iter().map(|&from| nodes.iter().map(|&to| map.distance(from, to)).collect()).collect()
}

/// The memory of one node without an SRAT, split.
fn one_node_split(ram: &[PhysRange], split: Split) -> Vec<(u16, u64, u64)> {
    Machine { srat: None, fake: fake(split), ..Machine::new(ram, &[]) }.map(|map, seen| {
        assert_eq!(map.source(), Source::Fake);
        assert_eq!(seen.names(), ["srat-absent"]);
        dealt(map)
    })
}

/// Two nodes of 256 and 512 MiB with CPUs 0, 2 and 1, and 30 apart one way, 40 the other.
fn two_nodes() -> (Vec<PhysRange>, Vec<u8>, Vec<u8>) {
    let records =
        [cpu(7, 0), cpu(9, 1), cpu(7, 2), memory(7, mib(0, 256)), memory(9, mib(256, 768))];
    let mut matrix = [99; 100];
    (0..10).for_each(|at| matrix[at * 11] = 10);
    (matrix[79], matrix[97]) = (30, 40);
    (vec![mib(0, 768)], srat(2, &records), slit(10, &matrix))
}

fn split_two_nodes<R>(
    fake: Option<FakeNodes<'_>>,
    look: impl FnOnce(&NodeMap<'_>, &Seen) -> R,
) -> R {
    let (ram, srat, slit) = two_nodes();
    let cpus = [0, 1, 2].map(ApicId);
    let machine = Machine { slit: Some(&slit), cpus: &cpus, ..Machine::new(&ram, &srat) };
    Machine { fake, ..machine }.map(look)
}

#[test]
fn without_an_srat_the_one_node_is_split() {
    let cpus = [0, 1].map(ApicId);
    let ram = [PhysRange::new(0, 0x9f000), mib(1, 1024)];
    let machine = Machine { srat: None, cpus: &cpus, ..Machine::new(&ram, &[]) };
    Machine { fake: fake(Split::Nodes(2)), ..machine }.map(|map, seen| {
        assert_eq!(map.source(), Source::Fake);
        assert_eq!(dealt(map), [(0, 0, 0), (0, 1, 512), (1, 512, 1024)]);
        for set in [map.possible(), map.online(), map.with_memory(), map.with_cpus()] {
            assert_eq!(set.to_string(), "0-1");
        }
        assert_eq!(distances(map), [[10, 10], [10, 10]]);
        // Every part has all CPUs; a CPU is on the first.
        assert!(map.cpus_of(NodeId(0)).eq([CpuId(0), CpuId(1)]));
        assert!(map.cpus_of(NodeId(1)).eq([CpuId(0), CpuId(1)]));
        assert!(map.cpus().iter().all(|cpu| cpu.node == NodeId(0)));
        assert_eq!((map.pxm(NodeId(1)), map.whole(NodeId(1))), (None, NodeId(0)));
        let lines: Vec<_> = seen.parts.iter().map(|part| part.to_string()).collect();
        assert_eq!(
            lines,
            [
                "Faking node 0 at [mem 0x0000000000000000-0x000000001fffffff] (512MB)",
                "Faking node 1 at [mem 0x0000000020000000-0x000000003fffffff] (512MB)",
            ]
        );
    });
}

#[test]
fn what_does_not_divide_by_32_mib_goes_to_the_first_nodes_and_the_last() {
    // A share of 341 MiB: 320 each, and the rest of 21 three times is one unit and some.
    let nodes = one_node_split(&[mib(0, 1024)], Split::Nodes(3));
    assert_eq!(nodes, [(0, 0, 352), (1, 352, 672), (2, 672, 1024)]);
}

#[test]
fn a_hole_makes_a_node_longer_and_the_last_below_4_gib_reaches_there() {
    let ram = [mib(0, 100), mib(600, 1000), mib(4096, 5096)];
    // 1500 MiB in three: 480 each, the first 512.
    let nodes = one_node_split(&ram, Split::Nodes(3));
    // The first needs 480 of RAM: 512 + 15 * 32 = 992. What is left below 4 GiB is 8 MiB.
    let expected = [(0, 0, 100), (0, 600, 1000), (1, 4096, 4576), (2, 4576, 5096)];
    assert_eq!(nodes, expected);
}

#[test]
fn a_size_is_a_floor_rounded_down_to_32_mib() {
    let nodes = one_node_split(&[mib(0, 1000)], Split::Size(350 * MIB));
    // 320 MiB; the last 40 are too little for a node.
    assert_eq!(nodes, [(0, 0, 320), (1, 320, 640), (2, 640, 1000)]);
    let nodes = one_node_split(&[mib(0, 64)], Split::Size(1 << 40));
    assert_eq!(nodes, [(0, 0, 64)]);
}

#[test]
fn a_size_below_the_least_is_raised_and_named() {
    let ram = [mib(0, 100)];
    let machine = Machine { srat: None, ..Machine::new(&ram, &[]) };
    Machine { fake: fake(Split::Size(MIB)), ..machine }.map(|map, seen| {
        assert_eq!(dealt(map), [(0, 0, 32), (1, 32, 64), (2, 64, 100)]);
        assert_eq!(seen.names(), ["srat-absent", "fake-size-raised"]);
    });
    // No more nodes than there are ids: 64 GiB in 1024.
    let nodes = one_node_split(&[mib(4096, 4096 + 65536)], Split::Size(64 * MIB));
    assert_eq!(nodes.len(), 1024);
}

#[test]
fn nodes_of_an_srat_are_split_in_turn_and_keep_their_distances() {
    // 768 MiB in three: 256 each.
    split_two_nodes(fake(Split::Nodes(3)), |map, _| {
        assert_eq!(dealt(map), [(0, 0, 256), (1, 256, 512), (2, 512, 768)]);
        assert_eq!(distances(map), [[10, 30, 30], [40, 10, 10], [40, 10, 10]]);
        assert_eq!(cpus(map), [vec![0, 2], vec![1], vec![1]]);
        let own: Vec<_> = map.cpus().iter().map(|cpu| cpu.node.0).collect();
        assert_eq!(own, [0, 1, 0]);
        // As Linux: all parts of the boot CPU's node, the first part of the others'.
        assert_eq!(map.with_cpus().to_string(), "0-1");
        assert_eq!([0, 1, 2].map(|node| map.whole(NodeId(node)).0), [0, 1, 1]);
        assert_eq!(map.node_of_address(PhysAddr(600 * MIB)), Some(NodeId(2)));
    });
    // A third each of 256 MiB would be 85: 96. And 512 in three are 192 each but for the last.
    split_two_nodes(fake(Split::EachNode(3)), |map, _| {
        let nodes = dealt(map);
        assert_eq!(nodes[..3], [(0, 0, 96), (1, 96, 192), (2, 192, 256)]);
        assert_eq!(nodes[3..], [(3, 256, 448), (4, 448, 640), (5, 640, 768)]);
        assert_eq!(cpus(map)[1..4], [vec![0, 2], vec![0, 2], vec![1]]);
        assert_eq!(map.with_cpus().to_string(), "0-3");
    });
}

#[test]
fn parts_are_numbered_by_the_table_when_each_node_is_split() {
    let records = [cpu(0, 0), cpu(1, 1), memory(1, mib(0, 64)), memory(0, mib(64, 128))];
    let (ram, table) = ([mib(0, 128)], srat(2, &records));
    let machine = Machine { cpus: &[ApicId(0), ApicId(1)], ..Machine::new(&ram, &table) };
    Machine { fake: fake(Split::EachNode(2)), ..machine }.map(|map, _| {
        assert_eq!(dealt(map), [(0, 0, 32), (1, 32, 64), (2, 64, 96), (3, 96, 128)]);
        assert_eq!(cpus(map), [[1], [1], [0], [0]]);
    });
    // In turn, the lowest node comes first.
    Machine { fake: fake(Split::Size(64 * MIB)), ..machine }.map(|map, _| {
        assert_eq!(dealt(map), [(1, 0, 64), (0, 64, 128)]);
    });
}

#[test]
fn given_distances_win_and_what_is_missing_is_physical() {
    split_two_nodes(fake_at(Split::Nodes(3), "10,50,60,70"), |map, seen| {
        assert_eq!(distances(map), [[10, 50, 60], [70, 10, 10], [40, 10, 10]]);
        assert!(!seen.names().iter().any(|name| name.starts_with("fake")));
    });
    split_two_nodes(fake_at(Split::EachNode(1), "11,50,60,10,99,99"), |map, seen| {
        assert_eq!(distances(map), [[10, 50], [60, 10]]);
        let names = seen.names();
        assert!(names.contains(&"fake-bad-diagonal"));
        assert!(names.contains(&"fake-distances-left-over"));
    });
}

#[test]
fn the_one_node_of_noacpi_and_off_is_split_too() {
    let (ram, table, slit) = two_nodes();
    let machine = Machine { slit: Some(&slit), ..Machine::new(&ram, &table) };
    for numa in [NumaOption::NoAcpi, NumaOption::Off] {
        Machine { numa, fake: fake(Split::Nodes(2)), ..machine }.map(|map, seen| {
            assert_eq!(
                (map.source(), dealt(map)),
                (Source::Fake, vec![(0, 0, 384), (1, 384, 768)])
            );
            // The SLIT has no effect.
            assert_eq!(distances(map), [[10, 10], [10, 10]]);
            assert_eq!(seen.one_node.map(|one| one.off), Some(numa == NumaOption::Off));
        });
    }
}

#[test]
fn nodes_without_memory_have_no_part_and_their_cpus_go_to_node_0() {
    let records = [cpu(0, 0), cpu(1, 1), memory(0, mib(0, 256)), memory(2, mib(256, 512))];
    let (ram, table) = ([mib(0, 512)], srat(2, &records));
    let machine = Machine { cpus: &[ApicId(0), ApicId(1)], ..Machine::new(&ram, &table) };
    let fake = fake(Split::Nodes(4));
    for (given, with_cpus) in [(machine.cpus, "0,2"), (&[], "0")] {
        Machine { fake, cpus: given, ..machine }.map(|map, _| {
            let sets = [map.possible(), map.online(), map.with_cpus()];
            assert_eq!(sets.map(|set| set.to_string()), ["0-3", "0-3", with_cpus]);
            assert!(map.cpu_records().iter().all(|record| record.node == NodeId(0)));
        });
    }
    Machine { fake, ..machine }.map(|map, _| {
        assert_eq!(cpus(map), [vec![0, 1], vec![], vec![0, 1], vec![]]);
    });
}

/// Whatever goes wrong, the map is that without the option.
#[test]
fn a_cpu_without_a_record_is_on_the_first_part_of_its_node() {
    let (ram, table, _) = two_nodes();
    // Number 3 is dealt to the second node, which is fake nodes 2 and 3.
    let cpus = [0, 1, 2, 50].map(ApicId);
    let machine = Machine { cpus: &cpus, ..Machine::new(&ram, &table) };
    machine.map(|map, _| assert_eq!(map.node_of_cpu(CpuId(3)), NodeId(1)));
    Machine { fake: fake(Split::EachNode(2)), ..machine }.map(|map, _| {
        let wholes: Vec<_> = map.possible().iter().map(|node| map.whole(node).0).collect();
        assert_eq!(wholes, [0, 0, 1, 1]);
        assert_eq!(map.node_of_cpu(CpuId(3)), NodeId(2));
        assert_eq!(map.node_of_cpu(CpuId(3)), map.node_of_cpu(CpuId(1)));
    });
}

#[test]
fn a_failure_leaves_the_nodes_as_they_are() {
    let all = |map: &NodeMap<'_>| {
        let rest = (map.source(), distances(map), map.cpus().to_vec(), map.blocks().to_vec());
        (map.ranges().to_vec(), cpus(map), map.pxm(NodeId(1)), rest)
    };
    let before = split_two_nodes(None, |map, _| all(map));
    for (split, name) in [
        (Split::Nodes(25), "fake-too-small"),
        (Split::Nodes(u32::MAX), "fake-too-small"),
        (Split::EachNode(9), "fake-too-few-parts"),
        (Split::EachNode(u32::MAX), "fake-too-few-parts"),
    ] {
        let (after, parts, names) = split_two_nodes(fake_at(split, "10,77"), |map, seen| {
            (all(map), seen.parts.len(), seen.names())
        });
        assert!(names.contains(&name), "{split:?}: {names:?}");
        assert_eq!(parts, 0, "{split:?}");
        // What the clean-up notes beside a block differs in no run.
        assert_eq!(format!("{:?}", before.0), format!("{:?}", after.0), "{split:?}");
        assert_eq!((&before.1, before.2), (&after.1, after.2), "{split:?}");
        assert_eq!((before.3.0, &before.3.1, &before.3.2), (after.3.0, &after.3.1, &after.3.2));
    }
    let machine = Machine { srat: None, ..Machine::new(&[], &[]) };
    for split in [Split::Nodes(1), Split::Size(1), Split::EachNode(1)] {
        let map = Machine { fake: fake(split), ..machine };
        map.map(|map, _| assert_eq!((map.source(), map.ranges().len()), (Source::None, 0)));
    }
}

#[test]
fn more_than_1024_nodes_are_1024_and_more_parts_than_2048_none() {
    let ram = [PhysRange::new(0, 1 << 40)];
    let machine = Machine { srat: None, ..Machine::new(&ram, &[]) };
    Machine { fake: fake(Split::Nodes(5000)), ..machine }.map(|map, seen| {
        assert_eq!(map.possible().len(), 1024);
        assert!(seen.names().contains(&"fake-too-many-nodes"));
    });
    Machine { fake: fake(Split::EachNode(3000)), ..machine }.map(|map, seen| {
        assert_eq!((map.source(), map.possible().len()), (Source::None, 1));
        assert!(seen.names().contains(&"fake-too-many-parts"));
    });
}

/// Any way to split; sizes around those of the machines.
pub fn any_split() -> impl Strategy<Value = Split> {
    prop_oneof![
        (1u32..40).prop_map(Split::Nodes),
        (0u64..2000).prop_map(|mib| Split::Size(mib * MIB + 5)),
        (1u32..9).prop_map(Split::EachNode),
        any::<u32>().prop_map(Split::Nodes),
        any::<u64>().prop_map(Split::Size),
        any::<u32>().prop_map(Split::EachNode),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 512 }))]

    #[test]
    fn every_frame_of_a_node_is_in_one_fake_node(
        records in proptest::collection::vec(record(), 0..16),
        ram in ranges(),
        split in any_split(),
        numbers in proptest::collection::vec(10u8..=255, 0..9),
    ) {
        let table = srat(2, &records);
        let usable: u64 = frames(&ram).iter().map(|range| range.len()).sum();
        let apics: Vec<_> = (0..8).map(ApicId).collect();
        let machine = Machine { cpus: &apics, ..Machine::new(&ram, &table) };
        let before = machine.map(|map, _| map.ranges().to_vec());
        let list = numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        Machine { fake: fake_at(split, &list), ..machine }.map(|map, seen| {
            for pair in map.ranges().windows(2) {
                let (a, b) = (pair[0], pair[1]);
                assert!(a.frames.end <= b.frames.start, "{a:?} {b:?}");
                assert!(a.node != b.node || a.frames.end < b.frames.start, "{a:?} {b:?}");
            }
            let common = |range: PfnRange| -> u64 {
                map.ranges().iter().map(|other| other.frames.intersect(range).len()).sum()
            };
            for range in &before {
                assert_eq!(common(range.frames), range.frames.len(), "{range:?}");
            }
            assert!(map.ranges().iter().map(|range| range.frames.len()).sum::<u64>() <= usable);
            if map.source() != Source::Fake {
                assert_eq!(map.ranges(), before);
                return;
            }
            assert_eq!(map.online().to_string(), map.with_memory().to_string());
            for (id, cpu) in map.cpus().iter().enumerate() {
                assert!(map.cpus_of(cpu.node).any(|other| other.index() == id));
            }
            for from in map.possible().iter().take(8) {
                assert_eq!(map.distance(from, from), 10);
                assert!(map.cpus_of(from).next().is_some() || !map.with_cpus().contains(from));
            }
            // As long as no id is used twice, a part is of the node that had its memory.
            if seen.parts.windows(2).all(|pair| pair[0].node < pair[1].node) {
                for range in &before {
                    let node = map.node_of(range.frames.start).unwrap();
                    assert_eq!(map.whole(node), range.node);
                }
            }
        });
    }
}
