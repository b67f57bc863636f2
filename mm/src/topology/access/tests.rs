use super::*;
use crate::firmware::hmat::by_hand::{attributes, cache, locality, table};
use crate::ids::NodeSet;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use super::by_hand::{CPUS, DEVICE, Domain, MEMORY, Machine};

/// The numbers of a set's nodes.
fn ids(nodes: NodeSet) -> Vec<u16> {
    nodes.iter().map(|node| node.0).collect()
}

/// Domains 5 and 3 with CPUs and memory, 9 with memory, 7 a device: nodes 0, 1, 3 and 2.
const FOUR: [Domain; 4] = [(5, CPUS | MEMORY), (3, CPUS | MEMORY), (7, DEVICE), (9, MEMORY)];

#[test]
fn figures_are_of_pairs_of_nodes() {
    let all = [
        locality(1, 1000, &[3, 5], &[9, 3, 5], &[30, 10, 20, 50, 21, 11]),
        locality(2, 1000, &[3, 5], &[9, 3, 5], &[31, 0, 22, 51, 23, 13]),
        locality(3, 10, &[7], &[9], &[5]),
    ];
    Machine::new(&FOUR).look(&table(2, &all), |access, findings| {
        assert_eq!(findings, [""; 0]);
        let latency = |from, to| access.figures(NodeId(from), NodeId(to)).read_latency;
        assert_eq!((latency(0, 0), latency(0, 1), latency(0, 3)), (Some(11), Some(21), Some(50)));
        assert_eq!((latency(1, 0), latency(1, 1), latency(1, 3)), (Some(20), Some(10), Some(30)));
        assert_eq!((latency(2, 0), latency(0, 2), latency(8, 0)), (None, None, None));
        let figures = access.figures(NodeId(1), NodeId(1));
        assert_eq!((figures.write_latency, figures.read_bandwidth), (None, None));
        let device = access.figures(NodeId(2), NodeId(3));
        assert_eq!((device.read_bandwidth, device.write_bandwidth), (Some(50), Some(50)));
        assert_eq!(device.read_latency, None);
    });
}

#[test]
fn write_latency_decides_then_read_latency_then_bandwidths() {
    // Of the target 9, by initiators 5, 3 and 7: nodes 0, 1 and 2.
    let write = |entries: [u16; 3]| locality(2, 1000, &[5, 3, 7], &[9], &entries);
    let read = |entries: [u16; 3]| locality(1, 1000, &[5, 3, 7], &[9], &entries);
    let write_bandwidth = |entries: [u16; 3]| locality(5, 1, &[5, 3, 7], &[9], &entries);
    let read_bandwidth = |entries: [u16; 3]| locality(4, 1, &[5, 3, 7], &[9], &entries);
    for (structures, any, cpus) in [
        (vec![write([9, 8, 7])], vec![2], vec![1]),
        (vec![write([7, 7, 8]), read([1, 1, 1])], vec![0, 1], vec![0, 1]),
        (vec![write([7, 7, 8]), read([9, 8, 1])], vec![1], vec![1]),
        (vec![write([7, 7, 7]), write_bandwidth([5, 6, 7])], vec![2], vec![1]),
        (vec![write_bandwidth([6, 6, 6]), read_bandwidth([3, 2, 1])], vec![0], vec![0]),
        (vec![read_bandwidth([9, 1, 9]), write_bandwidth([5, 6, 5])], vec![1], vec![1]),
        // Read bandwidth has the last word, though it stands first.
        (vec![read_bandwidth([1, 2, 3]), write([1, 1, 1])], vec![2], vec![1]),
        // What is not known of an initiator does not make it the best.
        (vec![write([0, 9, 0xffff])], vec![1], vec![1]),
        (vec![write([0, 0, 9])], vec![2], vec![]),
        // What is not known of any decides nothing.
        (vec![write([0, 0, 0]), read([4, 3, 5])], vec![1], vec![1]),
        (vec![write([0, 0, 0])], vec![], vec![]),
    ] {
        let bytes = table(2, &structures);
        Machine::new(&FOUR).look(&bytes, |access, _| {
            let best = |class| ids(access.best(NodeId(3), class).initiators);
            assert_eq!((best(Class::Any), best(Class::Cpus)), (any, cpus), "{structures:?}");
            assert!(access.best(NodeId(0), Class::Any).figures.is_empty());
        });
    }
}

#[test]
fn best_figures_are_those_of_the_best() {
    let all = [
        locality(0, 1000, &[5, 3, 7], &[9], &[20, 20, 10]),
        locality(4, 1, &[5, 3, 7], &[9], &[300, 200, 100]),
        locality(5, 1, &[5, 3, 7], &[9], &[250, 250, 90]),
    ];
    Machine::new(&FOUR).look(&table(2, &all), |access, _| {
        let figures = |latency, read, write| Figures {
            read_latency: Some(latency),
            write_latency: Some(latency),
            read_bandwidth: Some(read),
            write_bandwidth: Some(write),
        };
        let any = access.best(NodeId(3), Class::Any);
        assert_eq!((ids(any.initiators), any.figures), (vec![2], figures(10, 100, 90)));
        let cpus = access.best(NodeId(3), Class::Cpus);
        assert_eq!((ids(cpus.initiators), cpus.figures), (vec![0], figures(20, 300, 250)));
        assert_eq!((any.figures.bandwidth(), cpus.figures.bandwidth()), (Some(90), Some(250)));
    });
}

#[test]
fn an_attached_initiator_is_the_best_one() {
    let latencies = || locality(0, 1000, &[5, 3, 7], &[9, 5], &[20, 1, 10, 2, 30, 3]);
    for (attached, any, cpus) in [
        (vec![attributes(9, Some(7))], (2, 30), (1, 10)),
        (vec![attributes(9, Some(5))], (0, 20), (0, 20)),
        // The last one counts.
        (vec![attributes(9, Some(7)), attributes(9, Some(3))], (1, 10), (1, 10)),
        (vec![attributes(9, None)], (1, 10), (1, 10)),
    ] {
        let bytes = table(2, &[attached, vec![latencies()]].concat());
        Machine::new(&FOUR).look(&bytes, |access, findings| {
            assert_eq!(findings, ["hmat-no-bandwidth"; 0]);
            let best = |class| {
                let best = access.best(NodeId(3), class);
                (best.initiators.first().unwrap().0, best.figures.read_latency.unwrap())
            };
            assert_eq!((best(Class::Any), best(Class::Cpus)), (any, cpus));
            assert_eq!(ids(access.best(NodeId(0), Class::Any).initiators), [0]);
        });
    }
    // Nothing else has to be known.
    Machine::new(&FOUR).look(&table(2, &[attributes(9, Some(3))]), |access, _| {
        let best = access.best(NodeId(3), Class::Cpus);
        assert_eq!((ids(best.initiators), best.figures), (vec![1], Figures::default()));
    });
}

/// Each of nodes 0, 1 and 3 from domain 5: latency of both ways in ns, bandwidth of both in MB/s.
fn from_5(figures: [(u16, u16); 3]) -> Vec<u8> {
    let latencies = figures.map(|(latency, _)| latency);
    let bandwidths = figures.map(|(_, bandwidth)| bandwidth);
    let targets = [5, 3, 9];
    let all = [locality(0, 1000, &[5], &targets, &latencies)];
    table(2, &[&all[..], &[locality(3, 1, &[5], &targets, &bandwidths)]].concat())
}

#[test]
fn memory_that_is_slower_than_that_of_cpus_is_in_a_higher_tier() {
    for (far, distance, tier) in [
        ((100, 1000), 576, 4),
        ((200, 1000), 1152, 9),
        ((100, 500), 1152, 9),
        ((250, 250), 5760, 45),
        ((30, 4000), 43, 0),
        // In steps of whole numbers: 576 * 150 / 200 = 432, * 2000 / 1998 = 432.
        ((75, 999), 432, 3),
        ((0, 1000), 576, 4),
        ((100, 0), 576, 4),
    ] {
        let bytes = from_5([(100, 1000), (110, 1100), far]);
        Machine::new(&FOUR).look(&bytes, |access, _| {
            assert_eq!(access.abstract_distance(NodeId(3)), distance, "{far:?}");
            assert_eq!(access.tier(NodeId(3)), tier, "{far:?}");
            assert_eq!((access.tier(NodeId(0)), access.tier(NodeId(9))), (4, 4));
            assert_eq!(access.abstract_distance(NodeId(1)), 576 * 220 / 200 * 2000 / 2200);
        });
    }
}

#[test]
fn distances_beyond_32_bits_are_the_highest() {
    let all = [
        locality(0, 1000, &[5], &[5, 9], &[1, 60000]),
        locality(3, 1 << 15, &[5], &[5, 9], &[60000, 1]),
    ];
    Machine::new(&FOUR).look(&table(2, &all), |access, _| {
        assert_eq!(access.abstract_distance(NodeId(3)), u32::MAX);
    });
}

#[test]
fn ordinary_memory_that_is_not_alike_makes_no_tiers() {
    for (second, differs) in [
        ((110, 1000), false),
        ((111, 1000), true),
        ((90, 900), false),
        ((100, 899), true),
        ((100, 1101), true),
        // Nothing is known of one of its figures: the first one is the measure.
        ((100, 0), false),
    ] {
        let bytes = from_5([(100, 1000), second, (200, 1000)]);
        Machine::new(&FOUR).look(&bytes, |access, findings| {
            assert_eq!(findings.contains(&"hmat-dram-differs"), differs, "{second:?}");
            assert_eq!(access.tier(NodeId(3)), if differs { 4 } else { 9 }, "{second:?}");
        });
    }
}

#[test]
fn weights_are_in_proportion_to_bandwidth() {
    for (bandwidths, weights) in [
        ([100, 100, 100], [1, 1, 1]),
        ([300, 300, 100], [13, 13, 4]),
        // 32 * 4 / 8, twice 32 * 2 / 8: 16, 8, 8.
        ([4, 2, 2], [2, 1, 1]),
        ([3000, 3000, 1], [15, 15, 1]),
        ([60000, 1, 1], [31, 1, 1]),
    ] {
        let bytes = from_5(bandwidths.map(|bandwidth| (100, bandwidth)));
        Machine::new(&FOUR).look(&bytes, |access, findings| {
            assert_eq!([0, 1, 3].map(|node| access.weight(NodeId(node))), weights);
            assert_eq!(access.weight(NodeId(2)), 1, "no memory");
            assert!(!findings.contains(&"hmat-no-bandwidth"));
        });
    }
}

#[test]
fn the_lower_of_two_bandwidths_counts_and_only_that_from_cpus() {
    let all = [
        locality(4, 1, &[5, 7], &[5, 3, 9], &[400, 400, 200, 1, 1, 9000]),
        locality(5, 1, &[5, 7], &[5, 3, 9], &[200, 400, 300, 1, 1, 9000]),
    ];
    Machine::new(&FOUR).look(&table(2, &all), |access, _| {
        // 200, 400, 200.
        assert_eq!([0, 1, 3].map(|node| access.weight(NodeId(node))), [1, 2, 1]);
    });
}

#[test]
fn without_the_bandwidth_of_one_node_all_weights_are_1() {
    let bytes = from_5([(100, 1050), (100, 1000), (100, 0)]);
    Machine::new(&FOUR).look(&bytes, |access, findings| {
        assert_eq!(findings, ["hmat-no-bandwidth"]);
        assert_eq!([0, 1, 3].map(|node| access.weight(NodeId(node))), [1, 1, 1]);
    });
    // The read bandwidth alone is not enough.
    let reads = table(2, &[locality(4, 1, &[5], &[5, 3, 9], &[4, 2, 2])]);
    Machine::new(&FOUR).look(&reads, |access, findings| {
        assert_eq!(findings, [""; 0]);
        assert_eq!(access.weights(), [1; 4]);
    });
}

#[test]
fn caches_are_in_front_of_nodes() {
    let all = [cache(9, 4096, 0x0040_2112), cache(3, 77, 0), cache(8, 1, 0), cache(9, 64, 0x21)];
    Machine::new(&FOUR).look(&table(2, &all), |access, findings| {
        assert_eq!(findings, ["hmat-domain-without-node"]);
        let caches: Vec<_> = access.caches().map(|(node, cache)| (node.0, cache.size)).collect();
        assert_eq!(caches, [(3, 4096), (1, 77), (3, 64)]);
    });
}

#[test]
fn caches_figures_are_not_the_memorys() {
    let mut of_cache = locality(0, 1000, &[5], &[9], &[3]);
    of_cache[8] = 1;
    let all = [locality(0, 1000, &[5], &[9], &[70]), of_cache, locality(6, 1, &[5], &[9], &[1])];
    Machine::new(&FOUR).look(&table(2, &all), |access, findings| {
        assert_eq!(findings, ["hmat-reserved-data-type"]);
        assert_eq!(access.figures(NodeId(0), NodeId(3)).read_latency, Some(70));
    });
}

#[test]
fn the_last_structure_of_a_sort_counts() {
    let all = [
        locality(0, 1000, &[5, 3], &[9], &[70, 80]),
        locality(1, 1000, &[3], &[9], &[90]),
        locality(1, 1000, &[3], &[9], &[60]),
    ];
    let lines = Machine::new(&FOUR).look(&table(2, &all), |access, _| {
        let figures = access.figures(NodeId(1), NodeId(3));
        assert_eq!((figures.read_latency, figures.write_latency), (Some(60), Some(80)));
        let figures = access.figures(NodeId(0), NodeId(3));
        assert_eq!((figures.read_latency, figures.write_latency), (None, Some(70)));
    });
    let again = |record, at| {
        std::format!(
            "HMAT, record {record} at {at:#x}: figures of data type 1 were given before: those of \
             this structure count alone"
        )
    };
    assert_eq!(lines, [again(1, 40 + 48), again(2, 40 + 48 + 42)]);
}

#[test]
fn odd_domains_are_named_once_for_a_structure() {
    let all = [
        locality(0, 1000, &[5, 4, 3, 5], &[9, 9, 8], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        attributes(6, Some(3)),
        attributes(9, Some(2)),
    ];
    let lines = Machine::new(&FOUR).look(&table(2, &all), |access, _| {
        assert_eq!(access.figures(NodeId(0), NodeId(3)).read_latency, Some(1));
        assert_eq!(access.figures(NodeId(1), NodeId(3)).read_latency, Some(7));
        assert_eq!(ids(access.best(NodeId(3), Class::Any).initiators), [0], "9 is not attached");
    });
    let without = |record, at, pxm| {
        std::format!(
            "HMAT, record {record} at {at:#x}: domain {pxm}, and perhaps others that the structure \
             names, has no node: passed over"
        )
    };
    let twice = "HMAT, record 0 at 0x28: domain 5, and perhaps others, stands twice in a list: the \
                 first counts";
    let at = 40 + 32 + 28 + 24;
    assert_eq!(
        lines,
        [without(1, at, 6), without(2, at + 40, 2), without(0, 40, 4), String::from(twice)]
    );
}

#[test]
fn parts_of_a_node_are_as_fast_as_the_node() {
    let all = [
        locality(0, 1000, &[5, 3], &[5, 3, 9], &[100, 100, 300, 100, 100, 200]),
        locality(3, 1, &[5, 3], &[5, 3, 9], &[300, 200, 100, 200, 300, 100]),
    ];
    let bytes = table(2, &all);
    let fake = Machine { numa: "fake=2U", ..Machine::new(&FOUR) };
    fake.look(&bytes, |access, _| {
        let map = access.map();
        let whole: Vec<u16> = map.possible().iter().map(|node| map.whole(node).0).collect();
        let (mut parts_of_3, mut parts_of_1) = (Vec::new(), Vec::new());
        for (node, whole) in (0..).zip(whole) {
            match whole {
                3 => parts_of_3.push(node),
                1 => parts_of_1.push(node),
                _ => assert_eq!((whole, access.tier(NodeId(node))), (0, 4)),
            }
        }
        assert_eq!((parts_of_3.len(), parts_of_1.len()), (2, 2));
        for &node in &parts_of_3 {
            let best = access.best(NodeId(node), Class::Cpus);
            assert_eq!(ids(best.initiators), parts_of_1);
            assert_eq!(best.figures.read_latency, Some(200));
            assert_eq!(access.abstract_distance(NodeId(node)), 576 * 2 * 3);
            // 32 * 100 / 1400 and 32 * 300 / 1400.
            assert_eq!((access.weight(NodeId(node)), access.weight(NodeId(0))), (1, 3));
        }
        let far = access.figures(NodeId(0), NodeId(parts_of_3[1]));
        assert_eq!(far.read_latency, Some(300));
    });
}

#[test]
fn without_a_usable_srat_nothing_is_known() {
    let bytes = from_5([(100, 1000), (100, 1000), (200, 1000)]);
    for numa in ["off", "noacpi"] {
        Machine { numa, ..Machine::new(&FOUR) }.look(&bytes, |access, findings| {
            assert_eq!((findings, access.is_known()), (&["hmat-without-srat"][..], false));
            assert_eq!((access.tier(NodeId(0)), access.weight(NodeId(0))), (4, 1));
            assert!(access.best(NodeId(0), Class::Any).figures.is_empty());
        });
    }
    // A fake node of a machine whose SRAT is refused is no node of the SRAT either.
    let refused = Machine { numa: "fake=2", damaged: true, ..Machine::new(&FOUR) };
    refused.look(&bytes, |access, findings| {
        assert_eq!((findings, access.is_known()), (&["hmat-without-srat"][..], false));
    });
}

#[test]
fn a_refused_table_says_nothing() {
    Machine::new(&FOUR).look(&table(3, &[cache(9, 1, 0)]), |access, findings| {
        assert_eq!(findings, ["hmat-revision", "hmat-rejected"]);
        assert!(!access.is_known());
        assert_eq!((access.caches().count(), access.weight(NodeId(0))), (0, 1));
    });
}

#[test]
fn with_too_little_room_nothing_is_known_of_the_last_nodes() {
    let bytes = from_5([(100, 1000), (100, 1000), (200, 500)]);
    for room in [0, 2] {
        let small = Machine { room: Some(room), ..Machine::new(&FOUR) };
        let lines = small.look(&bytes, |access, findings| {
            assert!(findings.contains(&"hmat-too-many-nodes"), "{findings:?}");
            assert!(access.figures(NodeId(0), NodeId(3)).is_empty());
            assert_eq!((access.tier(NodeId(3)), access.weight(NodeId(3))), (4, 1));
            assert_eq!(access.figures(NodeId(0), NodeId(1)).is_empty(), room == 0);
        });
        assert!(lines[0].to_string().contains(&std::format!("there is room for {room} nodes")));
    }
}
