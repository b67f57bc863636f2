//! Any machine of records of all sorts: the order of records changes node ids only, a map that is
//! described as a table gives the same map, and there are no more nodes than domains.

use std::collections::{BTreeMap, BTreeSet};

use nearmem::finding::Kind;
use nearmem::topology::{Cpu, NodeMap, NodeRange, Source};
use nearmem::{ApicId, NodeId, PfnRange, PhysRange, ProximityDomain};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::look_at;
use super::tables::{Machine, Seen, cpu, frames, initiator, memory, slit, srat};

/// Memory comes in cells; one without a range has the table refused.
const CELL: u64 = 3 << 20;
/// Cells of the small world. Ranges may end beyond it.
const CELLS: u64 = 24;
/// The domain of the CPU that is always there.
const HOME: u32 = 3;

/// A record, enabled or not.
#[derive(Clone, Debug)]
enum Piece {
    /// Domain, first cell, cells, flags.
    Memory(u32, u64, u64, u8),
    /// APIC id, which says the domain, too: a CPU in two domains is where the last record says.
    Cpu(u32, bool),
    Initiator(u32, bool),
    /// A generic port, which makes no node.
    Port(u32),
}

fn piece() -> impl Strategy<Value = Piece> {
    // Enabled, now and then hot-pluggable or non-volatile or both; or not enabled.
    let flags = prop_oneof![6 => Just(1u8), 3 => 1u8..8, 1 => (0u8..4).prop_map(|bits| bits * 2)];
    let memory = (0u32..6, 0..CELLS + 8, 0u64..6, flags);
    let likely = || prop::bool::weighted(0.8);
    prop_oneof![
        5 => memory.prop_map(|(pxm, at, cells, flags)| Piece::Memory(pxm, at, cells, flags)),
        3 => (1u32..20, likely()).prop_map(|(apic, enabled)| Piece::Cpu(apic, enabled)),
        1 => (0u32..12, likely()).prop_map(|(pxm, enabled)| Piece::Initiator(pxm, enabled)),
        1 => (0u32..40).prop_map(Piece::Port),
    ]
}

impl Piece {
    fn record(&self) -> Vec<u8> {
        let mut record = match *self {
            Piece::Memory(pxm, at, cells, _) => {
                memory(pxm, PhysRange::new(at * CELL, (at + cells) * CELL))
            }
            Piece::Cpu(apic, _) => cpu(domain_of(apic), apic),
            Piece::Initiator(pxm, _) => initiator(pxm),
            Piece::Port(pxm) => [&[6, 32], &initiator(pxm)[2..]].concat(),
        };
        match *self {
            Piece::Memory(.., flags) => record[28] = flags,
            Piece::Cpu(_, enabled) => record[12] = enabled.into(),
            Piece::Initiator(_, enabled) => record[24] = enabled.into(),
            Piece::Port(_) => {}
        }
        record
    }

    /// The domain that gets a node by it.
    fn domain(&self) -> Option<u32> {
        match *self {
            Piece::Memory(pxm, .., flags) if flags & 1 == 1 => Some(pxm),
            Piece::Cpu(apic, true) => Some(domain_of(apic)),
            Piece::Initiator(pxm, true) => Some(pxm),
            _ => None,
        }
    }
}

fn domain_of(apic: u32) -> u32 {
    apic % 7
}

/// Records, and cells with memory. Tables that cover all of it and do not overlap are rare by
/// chance, so most have a range of domain 9 for what no other has, and less that overlaps.
fn world() -> impl Strategy<Value = (Vec<Piece>, BTreeSet<u64>)> {
    let cells = btree_set(0..CELLS, 1..20);
    (vec(piece(), 0..14), cells, 0u8..4).prop_map(|(mut pieces, ram, kind)| {
        let mut owners = BTreeMap::new();
        pieces.retain(|piece| {
            let Piece::Memory(pxm, at, cells, flags) = *piece else { return true };
            let overlaps =
                (at..at + cells).any(|cell| owners.get(&cell).is_some_and(|&owner| owner != pxm));
            let keep = kind == 0 || flags & 1 == 0 || !overlaps;
            if keep && flags & 1 == 1 {
                owners.extend((at..at + cells).map(|cell| (cell, pxm)));
            }
            keep
        });
        if kind > 0 {
            let lacking = ram.iter().filter(|cell| !owners.contains_key(cell));
            pieces.extend(lacking.map(|&cell| Piece::Memory(9, cell, 1, 1)));
        }
        (pieces, ram)
    })
}

fn ranges_of(ram: &BTreeSet<u64>) -> Vec<PhysRange> {
    ram.iter().map(|cell| PhysRange::new(cell * CELL, (cell + 1) * CELL)).collect()
}

/// The home CPU first, then the others.
fn table(pieces: &[Piece]) -> Vec<u8> {
    let home = cpu(HOME, 100);
    let records: Vec<_> = [home].into_iter().chain(pieces.iter().map(Piece::record)).collect();
    srat(3, &records)
}

/// A distance for every pair of domains, another one back.
fn distances() -> Vec<u8> {
    let cell = |at: u32| if at.is_multiple_of(11) { 10 } else { 11 + (at * 37 % 200) as u8 };
    slit(10, &(0..100).map(cell).collect::<Vec<_>>())
}

/// Some of the CPUs that have a record are there. Others would be dealt by node id.
fn present(pieces: &[Piece]) -> Vec<ApicId> {
    let listed = |apic: &u32| {
        pieces.iter().any(|piece| matches!(piece, Piece::Cpu(other, true) if other == apic))
    };
    let cpus = [1, 5, 8, 9, 11].into_iter().filter(listed);
    [100].into_iter().chain(cpus).map(ApicId).collect()
}

/// All that a map says, by domain.
fn by_domain(map: &NodeMap<'_>, seen: &Seen) -> impl PartialEq + std::fmt::Debug + use<> {
    let ranges = map.ranges().iter().map(|range| (range.frames, map.pxm(range.node)));
    let sets = [map.possible(), map.online(), map.with_cpus(), map.with_initiators()];
    let domains = sets.map(|set| set.iter().map(|node| map.pxm(node)).collect::<BTreeSet<_>>());
    let cpus = map.cpus().iter().map(|cpu| (cpu.apic, map.pxm(cpu.node)));
    let nodes = || (0..12).filter_map(|pxm| Some((pxm, map.node_of_pxm(ProximityDomain(pxm))?)));
    let by_srat = map.source() == Source::Srat;
    let pairs = nodes().flat_map(|from| nodes().map(move |to| (from, to))).filter(|_| by_srat);
    let distances = pairs.map(|((a, from), (b, to))| (a, b, map.distance(from, to)));
    let own = |kind: &&Kind| !matches!(kind, Kind::PxmDiffersFromNode { .. });
    let kinds = seen.findings.iter().map(|finding| &finding.kind).filter(own);
    (
        ranges.collect::<Vec<_>>(),
        domains,
        cpus.collect::<Vec<_>>(),
        distances.collect::<Vec<_>>(),
        map.uncovered_bytes(),
        kinds.map(Kind::name).collect::<BTreeSet<_>>(),
    )
}

/// All that a map says, by node.
type ByNode = (Vec<NodeRange>, [String; 4], Vec<Cpu>, Vec<u8>, u64);

fn by_node(map: &NodeMap<'_>) -> ByNode {
    let nodes: Vec<NodeId> = map.possible().iter().collect();
    let row = |&from: &NodeId| nodes.iter().map(move |&to| map.distance(from, to));
    let sets = [map.possible(), map.online(), map.with_cpus(), map.with_initiators()];
    (
        map.ranges().to_vec(),
        sets.map(|set| set.to_string()),
        map.cpus().to_vec(),
        nodes.iter().flat_map(|from| row(from).collect::<Vec<_>>()).collect(),
        map.uncovered_bytes(),
    )
}

/// A table and a SLIT that say what a map says: a CPU on each node that is not there, so that ids
/// are as they were, then what is.
fn described(map: &NodeMap<'_>) -> (Vec<u8>, Vec<u8>) {
    let nodes: Vec<NodeId> = map.possible().iter().collect();
    let mut records: Vec<_> =
        nodes.iter().map(|node| cpu(node.0.into(), 1000 + u32::from(node.0))).collect();
    let mut initiators = map.with_initiators().iter().collect::<Vec<_>>();
    initiators.reverse();
    records.extend(map.cpus().iter().map(|each| cpu(each.node.0.into(), each.apic.0)));
    records.extend(initiators.iter().map(|node| initiator(node.0.into())));
    records.extend(map.blocks().iter().rev().map(|block| memory(block.node.0.into(), block.range)));
    let row = |from| nodes.iter().map(move |&to| map.distance(from, to));
    let matrix: Vec<u8> = nodes.iter().flat_map(|&from| row(from).collect::<Vec<_>>()).collect();
    (srat(3, &records), slit(nodes.len() as u64, &matrix))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 1024 }))]

    #[test]
    fn the_order_of_records_changes_ids_only(
        (pieces, ram, shuffled) in world().prop_flat_map(|(pieces, ram)| {
            (Just(pieces.clone()), Just(ram), Just(pieces).prop_shuffle())
        }),
    ) {
        let (ram, slit) = (ranges_of(&ram), distances());
        let cpus = present(&pieces);
        let look = |pieces: &[Piece]| {
            let srat = table(pieces);
            let machine = Machine::new(&ram, &srat);
            Machine { slit: Some(&slit), cpus: &cpus, ..machine }.map(by_domain)
        };
        prop_assert_eq!(look(&pieces), look(&shuffled));
    }

    #[test]
    fn a_map_described_as_a_table_gives_the_same_map((pieces, ram) in world()) {
        let (ram, slit) = (ranges_of(&ram), distances());
        let (srat, cpus) = (table(&pieces), present(&pieces));
        let machine = Machine { slit: Some(&slit), cpus: &cpus, ..Machine::new(&ram, &srat) };
        let (first, tables) = machine.map(|map, _| (by_node(map), described(map)));
        let accepted = machine.map(|map, _| map.source() == Source::Srat);
        if accepted {
            let (srat, slit) = (&tables.0, &tables.1);
            let machine = Machine { slit: Some(slit), cpus: &cpus, ..Machine::new(&ram, srat) };
            let (second, again) = machine.map(|map, _| (by_node(map), described(map)));
            prop_assert_eq!(&first, &second);
            prop_assert_eq!(tables, again);
        }
    }

    #[test]
    fn there_are_as_many_nodes_as_domains_and_every_frame_is_in_one((pieces, ram) in world()) {
        let ranges = ranges_of(&ram);
        let usable: Vec<PfnRange> = frames(&ranges);
        let domains: BTreeSet<u32> =
            pieces.iter().filter_map(Piece::domain).chain([HOME]).collect();
        let (srat, cpus) = (table(&pieces), present(&pieces));
        Machine { cpus: &cpus, ..Machine::new(&ranges, &srat) }.map(|map, _| {
            look_at(map, &usable);
            let given: u64 = map.ranges().iter().map(|range| range.frames.len()).sum();
            // Cells are whole frames and too large to be on no node.
            assert_eq!(given, ram.len() as u64 * CELL / 4096);
            let nodes = if map.source() == Source::Srat { domains.len() } else { 1 };
            assert_eq!(map.possible().len(), nodes);
        });
    }
}
