//! The largest machine: 1024 nodes, 8192 CPUs, addresses up to 52 bits. Mapped on a small stack, in
//! memory that the caller brings; nothing is lost, and one more of anything is a finding.

use nearmem::finding::{Finding, Findings};
use nearmem::firmware::madt::{IdLinks, Madt, present};
use nearmem::ids::{MAX_CPUS, MAX_NODES};
use nearmem::topology::{
    HeapRoom, Inputs, MapOptions, MemoryMap, NodeMap, Region, RegionKind, StorageNeeds,
};
use nearmem::{ApicId, CpuId, NodeId, PfnRange, PhysAddr, PhysRange};

use super::tables::{cpu, memory, slit, srat, table};

/// One past the highest address.
const END: u64 = 1 << 52;
/// Memory records: four for each node, which take turns.
const RECORDS: u64 = 4 * MAX_NODES as u64;
/// Bytes of stack. A debug build does with half of it.
const STACK: usize = 32 << 10;

/// Domain of node `n`: from high to low, so that no id is its domain.
fn domain(node: usize) -> u32 {
    (MAX_NODES - 1 - node) as u32
}

/// APIC id of CPU `n`, of which each node has eight.
fn apic(cpu: usize) -> u32 {
    (cpu * 3) as u32
}

fn node_of(cpu: usize) -> usize {
    cpu / (MAX_CPUS / MAX_NODES)
}

/// Far from 10, another one back.
fn distance(from: u32, to: u32) -> u8 {
    if from == to { 10 } else { 11 + ((from * 7 + to * 3) % 200) as u8 }
}

/// The tables of a machine: SRAT, SLIT, MADT.
struct Tables {
    srat: Vec<u8>,
    slit: Vec<u8>,
    madt: Vec<u8>,
}

impl Tables {
    /// Records of the largest machine, and `more` of the SRAT and the MADT.
    fn with(more: &[Vec<u8>], more_cpus: &[u32]) -> Tables {
        let nodes = MAX_NODES as u32;
        let cpus = (0..MAX_CPUS).map(|number| cpu(domain(node_of(number)), apic(number)));
        let step = END / RECORDS;
        let ranges = (0..RECORDS).map(|at| {
            let node = at as usize % MAX_NODES;
            memory(domain(node), PhysRange::new(at * step, (at + 1) * step))
        });
        let records: Vec<_> = cpus.chain(ranges).chain(more.iter().cloned()).collect();
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let matrix: Vec<_> = pairs.map(|(from, to)| distance(from, to)).collect();
        let ids = (0..MAX_CPUS).map(apic).chain(more_cpus.iter().copied());
        let present = |id: u32| {
            let words = [id.to_le_bytes(), 1u32.to_le_bytes(), id.to_le_bytes()];
            [&[9, 16, 0, 0][..], words.as_flattened()].concat()
        };
        let madt: Vec<_> = ids.map(present).collect();
        Tables {
            srat: srat(3, &records),
            slit: slit(nodes.into(), &matrix),
            madt: table(b"APIC", 5, &[vec![0; 8], madt.concat()].concat()),
        }
    }

    /// Lists the CPUs and builds the map on a small stack, and looks at it there.
    fn map(&self, look: impl FnOnce(&NodeMap<'_>, &[&'static str]) + Send) {
        // The kernel has all of this in statics.
        let mut ids = vec![ApicId(0); MAX_CPUS];
        let mut links = vec![IdLinks::NONE; MAX_CPUS];
        let needs = StorageNeeds {
            nodes: MAX_NODES,
            ranges: RECORDS as usize,
            cpus: MAX_CPUS,
            records: MAX_CPUS,
            blocks: RECORDS as usize,
            ..StorageNeeds::default()
        };
        let mut room = HeapRoom::new(needs);
        let mut names = Names { names: Vec::with_capacity(1 << 16) };
        let small = std::thread::Builder::new().stack_size(STACK);
        std::thread::scope(|scope| {
            let work = || {
                let madt = Madt::parse(&self.madt, &mut names).unwrap();
                let boot = Some(ApicId(apic(0)));
                let counts = present(Some(&madt), boot, &mut ids, &mut links, &mut names);
                let mut regions = [Region::new(0, END, RegionKind::Usable)];
                let mut usable = [PfnRange::default(); 1];
                let options = MapOptions::default();
                let memory = MemoryMap::build(&mut regions, &mut usable, options, &mut names);
                let cpus = &ids[..counts.present];
                let (srat, slit) = (Some(&self.srat[..]), Some(&self.slit[..]));
                let inputs = Inputs { srat, slit, cpus, ..Inputs::new(&memory) };
                let map = NodeMap::build(&inputs, room.storage(), &mut names);
                look(&map, &names.names);
            };
            small.spawn_scoped(scope, work).unwrap().join().unwrap();
        });
    }
}

/// Names of findings, in room that was made before.
struct Names {
    names: Vec<&'static str>,
}

impl Findings for Names {
    fn add(&mut self, finding: Finding) {
        assert!(self.names.len() < self.names.capacity(), "{finding}");
        self.names.push(finding.kind.name());
    }
}

/// Everything of the largest machine is there.
fn check_all(map: &NodeMap<'_>) {
    assert_eq!(map.possible().len(), MAX_NODES);
    for set in [map.online(), map.with_memory(), map.with_cpus()] {
        assert_eq!(set.len(), MAX_NODES);
    }
    assert_eq!(map.ranges().len() as u64, RECORDS);
    let frames: u64 = map.ranges().iter().map(|range| range.frames.len()).sum();
    assert_eq!(frames, END >> 12);
    for (at, range) in map.ranges().iter().enumerate() {
        assert_eq!(range.node.index(), at % MAX_NODES);
    }
    assert_eq!(map.node_of(PhysAddr(END - 1).pfn()), Some(NodeId(MAX_NODES as u16 - 1)));
    assert_eq!(map.node_of(PhysAddr(END).pfn()), None);
    assert_eq!(map.cpus().len(), MAX_CPUS);
    for (number, cpu) in map.cpus().iter().enumerate() {
        assert_eq!((cpu.apic.0, cpu.node.index()), (apic(number), node_of(number)));
        assert_eq!(map.node_of_cpu(CpuId(number as u16)), cpu.node);
    }
    for from in 0..MAX_NODES {
        assert_eq!(map.pxm(NodeId(from as u16)).map(|pxm| pxm.0), Some(domain(from)));
        for to in 0..MAX_NODES {
            let expected = distance(domain(from), domain(to));
            assert_eq!(map.distance(NodeId(from as u16), NodeId(to as u16)), expected);
        }
    }
}

fn count(names: &[&'static str], name: &str) -> usize {
    names.iter().filter(|&&other| other == name).count()
}

/// Names that say that something was left out.
const LIMITS: [&str; 6] = [
    "cpu-too-many",
    "srat-too-many-cpus",
    "srat-too-many-domains",
    "srat-too-many-ranges",
    "node-ranges-full",
    "node-distances-full",
];

#[test]
fn the_largest_machine_is_mapped_on_a_small_stack_and_nothing_is_lost() {
    Tables::with(&[], &[]).map(|map, names| {
        check_all(map);
        assert!(!LIMITS.iter().any(|limit| names.contains(limit)));
        // All nodes take turns, and none has its domain's number.
        assert_eq!(count(names, "node-interleaved"), MAX_NODES);
        assert_eq!(count(names, "pxm-differs-from-node"), MAX_NODES);
        let others = ["slit-asymmetric", "cpu-needs-x2apic"];
        assert_eq!(others.map(|name| count(names, name)), [1, 1]);
        assert_eq!(names.len(), 2 * MAX_NODES + 2, "nothing else is noteworthy");
    });
}

#[test]
fn one_domain_more_is_a_finding_and_changes_nothing_else() {
    let beyond = PhysRange::new(END, END + (1 << 30));
    Tables::with(&[memory(5000, beyond)], &[]).map(|map, names| {
        check_all(map);
        assert_eq!(LIMITS.map(|limit| count(names, limit)), [0, 0, 1, 0, 0, 0]);
    });
}

#[test]
fn one_cpu_more_is_a_finding_in_each_table_and_changes_nothing_else() {
    let more = apic(MAX_CPUS);
    Tables::with(&[cpu(0, more)], &[more]).map(|map, names| {
        check_all(map);
        assert_eq!(LIMITS.map(|limit| count(names, limit)), [1, 1, 0, 0, 0, 0]);
    });
}

#[test]
fn one_memory_record_more_is_a_finding_and_changes_nothing_else() {
    let beyond = PhysRange::new(END, END + (1 << 30));
    Tables::with(&[memory(0, beyond)], &[]).map(|map, names| {
        check_all(map);
        assert_eq!(LIMITS.map(|limit| count(names, limit)), [0, 0, 0, 1, 0, 0]);
    });
}
