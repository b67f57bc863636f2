//! What must hold of latencies, bandwidths, tiers and weights, whatever the table says.

use nearmem::firmware::hmat::{Body, DataType, Hmat};
use nearmem::topology::NodeMap;
use nearmem::topology::access::{Access, AccessNode, AccessStorage, Class, Figures, WEIGHTINESS};
use nearmem::{NodeId, PhysRange};
use proptest::prelude::*;

use crate::structures::{any_structures, table};
use crate::tables::{Machine, cpu, initiator, memory, srat};

const GIB: u64 = 1 << 30;

/// Looks at a table on a machine where domains 3, 0 and 5 have CPUs and memory, 1 memory, 6 CPUs
/// and 2 a device; 4 is unknown.
fn with_access(hmat: &[u8], look: impl FnOnce(&Access<'_>)) {
    let range = |at| PhysRange::new(at * GIB, (at + 1) * GIB);
    let mut records: Vec<_> = [3, 0, 5, 6].iter().zip(0..).map(|(&p, id)| cpu(p, id)).collect();
    records.push(initiator(2));
    records.extend([3, 0, 5, 1].iter().zip(0..).map(|(&pxm, at)| memory(pxm, range(at))));
    let table = srat(3, &records);
    Machine::new(&[range(0), range(1), range(2), range(3)], &table).map(|map, _| {
        let room = Access::room(map);
        let mut nodes = vec![AccessNode::NONE; room];
        let (mut distances, mut weights) = (vec![0; room], vec![0; room]);
        let storage =
            AccessStorage { nodes: &mut nodes, distances: &mut distances, weights: &mut weights };
        look(&Access::build(hmat, map, storage, &mut |_| ()));
    });
}

/// What the table says of a pair, read the long way: the last structure for the memory itself with
/// this sort of figure, the first row and column of the pair.
fn long_way(
    hmat: &Hmat<'_>,
    map: &NodeMap<'_>,
    pair: (NodeId, NodeId),
    sorts: [DataType; 2],
) -> Option<u32> {
    let last = hmat.structures().filter_map(|structure| match structure.body {
        Body::Locality(locality) if locality.hierarchy == 0 => Some(locality),
        _ => None,
    });
    let sort = |number| DataType::new(number).is_some_and(|sort| sorts.contains(&sort));
    let last = last.filter(|locality| sort(locality.data_type)).last()?;
    let row = last.initiators().position(|pxm| map.node_of_pxm(pxm) == Some(pair.0))?;
    let column = last.targets().position(|pxm| map.node_of_pxm(pxm) == Some(pair.1))?;
    last.value(row, column)?.known()
}

/// The best of all initiators, found by sorting out one figure after the other.
fn best_the_long_way(access: &Access<'_>, from: Vec<NodeId>, target: NodeId) -> Vec<NodeId> {
    let mut left = from;
    let figures: [fn(&Figures) -> Option<u32>; 4] = [
        |figures| figures.write_latency,
        |figures| figures.read_latency,
        |figures| figures.write_bandwidth,
        |figures| figures.read_bandwidth,
    ];
    for (number, figure) in figures.into_iter().enumerate() {
        let value = |node: &NodeId| figure(&access.figures(*node, target));
        let known = left.iter().filter_map(value);
        let best = if number < 2 { known.min() } else { known.max() };
        if best.is_some() {
            left.retain(|node| value(node) == best);
        }
    }
    left
}

fn look_at(access: &Access<'_>, bytes: &[u8]) {
    let map = access.map();
    let memory: Vec<NodeId> = map.with_memory().iter().collect();
    let weights: Vec<u8> = memory.iter().map(|&node| access.weight(node)).collect();
    assert!(weights.iter().all(|weight| (1..=WEIGHTINESS).contains(weight)), "{weights:?}");
    // 32 shared out and rounded down, but at least 1 each.
    let sum: usize = weights.iter().map(|&weight| usize::from(weight)).sum();
    assert!(sum <= usize::from(WEIGHTINESS) + weights.len(), "{weights:?}");
    let Some(hmat) = Hmat::parse(bytes, &mut |_| ()) else {
        return assert!(!access.is_known() && weights.iter().all(|&weight| weight == 1));
    };
    let attached = |node| {
        hmat.structures().any(|structure| match structure.body {
            Body::Attributes(attributes) => {
                attributes.memory.and_then(|pxm| map.node_of_pxm(pxm)) == Some(node)
            }
            _ => false,
        })
    };
    for to in map.possible().iter() {
        for from in map.possible().iter() {
            use DataType::*;
            let figures = access.figures(from, to);
            let long_way = |sorts| long_way(&hmat, map, (from, to), sorts);
            assert_eq!(figures.read_latency, long_way([AccessLatency, ReadLatency]));
            assert_eq!(figures.write_latency, long_way([AccessLatency, WriteLatency]));
            assert_eq!(figures.read_bandwidth, long_way([AccessBandwidth, ReadBandwidth]));
            assert_eq!(figures.write_bandwidth, long_way([AccessBandwidth, WriteBandwidth]));
        }
        for class in [Class::Any, Class::Cpus] {
            let best = access.best(to, class);
            for node in best.initiators.iter() {
                assert!(map.online().contains(node));
                assert!(class == Class::Any || map.with_cpus().contains(node));
            }
            if attached(to) {
                continue;
            }
            let from = map.online().iter().filter(|&node| {
                (class == Class::Any || map.with_cpus().contains(node))
                    && !access.figures(node, to).is_empty()
            });
            let long_way = best_the_long_way(access, from.collect(), to);
            assert_eq!(best.initiators.iter().collect::<Vec<_>>(), long_way, "of node {to}");
            assert_eq!(best.initiators.is_empty(), best.figures.is_empty());
        }
        assert_eq!(access.tier(to), access.abstract_distance(to) / 128);
    }
    assert!(access.caches().all(|(node, _)| map.possible().contains(node)));
}

proptest! {
    #[test]
    fn figures_are_the_tables_and_the_best_are_the_best(
        revision in 1u8..=2,
        structures in any_structures(),
    ) {
        let bytes = table(revision, &structures);
        with_access(&bytes, |access| look_at(access, &bytes));
    }
}
