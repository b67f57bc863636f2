//! Input -> node map and findings, by the library that the kernel uses.

use nearmem::alloc::zonelist::FallbackOrders;
use nearmem::finding::{Finding, Findings, Kind, Merge};
use nearmem::firmware::srat::{Body, Srat};
use nearmem::options;
use nearmem::topology::{
    HeapRoom, Inputs, MapOptions, MemoryMap, NodeMap, Region, RegionKind, StorageNeeds,
};
use nearmem::{ApicId, NodeId, NodeSet, PfnRange, PhysRange, ProximityDomain};

use super::cpus::{Cpus, Listed};
use super::input::Input;
use super::speeds::Speeds;
use super::tables::Which;
use super::user_map;
use super::windows::Cxl;

/// A node map in the host's memory.
#[derive(Debug)]
pub struct Built {
    /// The nodes that come up, ascending.
    pub nodes: Vec<Node>,
    /// The nodes that have an id and hold nothing: id and domain.
    pub only_possible: Vec<(NodeId, Option<ProximityDomain>)>,
    /// Distances between the nodes that come up, a row each.
    pub distances: Vec<Vec<u8>>,
    /// The order of memory for each node that comes up.
    pub fallback_order: Vec<Vec<NodeId>>,
    /// Whether one node has everything, for want of a usable SRAT.
    pub fallback: bool,
    /// Usable bytes in no range of the SRAT.
    pub uncovered_bytes: u64,
    /// Usable memory, whoever has it.
    pub usable: Vec<PfnRange>,
    /// What was wrong or noteworthy, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// Ranges of one node that were joined.
    pub merges: Vec<Merge>,
    /// The node of each record of the SRAT by record number; none for what names no domain.
    pub record_nodes: Vec<Option<NodeId>>,
    /// With a MADT: which CPUs are present.
    pub cpus: Option<Cpus>,
    /// With a CEDT: windows of CXL memory.
    pub cxl: Option<Cxl>,
    /// With an HMAT: how fast memory is.
    pub speeds: Option<Speeds>,
}

/// A node that comes up.
#[derive(Debug)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// Its domain; `None` without an SRAT.
    pub pxm: Option<ProximityDomain>,
    /// Its usable memory, ascending.
    pub memory: Vec<PhysRange>,
    /// The APIC ids of the SRAT's CPUs, ascending.
    pub apic_ids: Vec<ApicId>,
    /// Whether it has a generic initiator.
    pub initiator: bool,
}

/// Takes what the library finds.
#[derive(Default)]
struct Collector {
    findings: Vec<Finding>,
    merges: Vec<Merge>,
}

impl Findings for Collector {
    fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn merged(&mut self, merge: Merge) {
        self.merges.push(merge);
    }
}

/// Builds the map of a machine. Without a MADT all CPUs of the SRAT count as present.
pub fn build(input: &Input) -> Built {
    let mut found = Collector { findings: input.findings.clone(), ..Collector::default() };
    let srat = input.tables.bytes(Which::Srat);
    let options = options::parse(&input.words, &mut |_| ());
    let mut regions = match &input.memory {
        Some(memory) => memory.regions.clone(),
        None => {
            found.add(Finding::new(Kind::MemoryMapAssumed));
            ranges_as_memory(srat)
        }
    };
    let mut usable = vec![PfnRange::default(); regions.len()];
    let memory = MemoryMap::build(&mut regions, &mut usable, MapOptions::default(), &mut found);
    let mut room = user_map::Room::new(&memory, options.user_map);
    let memory = room.apply(memory, options.user_map, &mut found);

    let madt = input.tables.bytes(Which::Madt);
    let listed = madt.and_then(|bytes| Listed::read(bytes, &mut found));
    let cpus = listed.as_ref().map_or(&[][..], |listed| &listed.present);
    let cedt = input.tables.bytes(Which::Cedt);
    let needs = StorageNeeds::of(srat, &memory, cpus.len()).with_cedt(cedt);
    let mut room = HeapRoom::new(needs.with_fake(options.fake.as_ref()));
    let slit = input.tables.bytes(Which::Slit);
    let (numa, fake) = (options.numa, options.fake);
    let inputs = Inputs { srat, slit, cedt, cpus, numa, fake, ..Inputs::new(&memory) };
    let map = NodeMap::build(&inputs, room.storage(), &mut found);
    let cpus = listed.map(|listed| Cpus::on(&map, listed));
    let cxl = cedt.and_then(|bytes| Cxl::read(bytes, &found.findings));
    let hmat = input.tables.bytes(Which::Hmat);
    let speeds = hmat.map(|bytes| match options.no_hmat {
        true => Speeds::unknown(&map),
        false => Speeds::read(bytes, &map, &mut found),
    });
    Built { cpus, cxl, speeds, ..describe(&map, &memory, srat, found) }
}

fn describe(
    map: &NodeMap<'_>,
    memory: &MemoryMap<'_>,
    srat: Option<&[u8]>,
    found: Collector,
) -> Built {
    let online: Vec<NodeId> = map.online().iter().collect();
    let row = |from: NodeId| online.iter().map(|&to| map.distance(from, to)).collect();
    let idle = map.possible().iter().filter(|&node| !map.online().contains(node));
    Built {
        nodes: online.iter().map(|&id| node(map, id)).collect(),
        only_possible: idle.map(|node| (node, map.pxm(node))).collect(),
        distances: online.iter().map(|&from| row(from)).collect(),
        fallback_order: fallback_orders(map),
        fallback: !map.is_by_srat(),
        uncovered_bytes: map.uncovered_bytes(),
        usable: memory.usable().to_vec(),
        record_nodes: record_nodes(map, srat),
        findings: found.findings,
        merges: found.merges,
        cpus: None,
        cxl: None,
        speeds: None,
    }
}

fn node(map: &NodeMap<'_>, id: NodeId) -> Node {
    let records = map.cpu_records().iter().filter(|record| record.node == id);
    Node {
        id,
        pxm: map.pxm(id),
        memory: map.node_ranges(id).map(PfnRange::bytes).collect(),
        apic_ids: records.map(|record| record.apic).collect(),
        initiator: map.with_initiators().contains(id),
    }
}

fn fallback_orders(map: &NodeMap<'_>) -> Vec<Vec<NodeId>> {
    let with_memory: NodeSet = *map.with_memory();
    let mut orders = FallbackOrders::new(&with_memory, |from, to| map.distance(from, to));
    let list = |node| {
        let mut list = Vec::new();
        orders.list(node, |next| list.push(next));
        list
    };
    map.online().iter().map(list).collect()
}

/// Every enabled memory range as usable memory.
fn ranges_as_memory(srat: Option<&[u8]>) -> Vec<Region> {
    let table = srat.and_then(|bytes| Srat::parse(bytes, &mut |_| ()));
    let entries = table.iter().flat_map(Srat::entries);
    let ranges = entries.filter_map(|entry| match entry.body {
        Body::Memory(memory) if memory.enabled => memory.range(),
        _ => None,
    });
    ranges.map(|range| Region { range, kind: RegionKind::Usable }).collect()
}

fn record_nodes(map: &NodeMap<'_>, srat: Option<&[u8]>) -> Vec<Option<NodeId>> {
    let table = srat.and_then(|bytes| Srat::parse(bytes, &mut |_| ()));
    let entries = table.iter().flat_map(Srat::entries);
    let pxm = entries.map(|entry| entry.pxm().filter(|_| entry.is_enabled()));
    pxm.map(|pxm| pxm.and_then(|pxm| map.node_of_pxm(pxm))).collect()
}
