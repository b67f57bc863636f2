//! What a node map costs: builds one of a 20 TiB machine, once, so that callgrind can count the
//! instructions of the two functions below, and of nothing else.
//!
//! ```sh
//! cargo build --release -p nearmem --example map_cost
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*map_cost*node_map*' \
//!     target/release/examples/map_cost 4096 interleaved
//! ```
//!
//! Arguments: memory records, and the sort of machine: see [`Sort`]. It prints what it built.

use nearmem::alloc::zonelist::FallbackOrders;
use nearmem::topology::{
    CacheId, HeapRoom, Inputs, MapOptions, MemoryMap, NodeMap, Region, RegionKind, Storage,
    StorageNeeds, UnlistedCpus,
};
use nearmem::{ApicId, PfnRange};

const TIB: u64 = 1 << 40;
/// Memory of the machine, in bytes; addresses have holes, so they reach twice as far.
const MEMORY: u64 = 20 * TIB;

/// What the records are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    /// 64 nodes that take turns, so that nothing can be joined; 8 CPUs each.
    Interleaved,
    /// 64 nodes whose ranges follow each other, out of order: all of one node are joined.
    Joined,
    /// As interleaved, every range twice, so that all overlap within their node.
    Overlapping,
    /// As interleaved, as many CPU records as memory records and no CPU among them: each is placed
    /// by the nearest APIC id.
    Unlisted,
    /// A node for each record, 1024 at most, which take turns, and 8192 CPUs.
    Nodes,
}

const SORTS: [(&str, Sort); 5] = [
    ("interleaved", Sort::Interleaved),
    ("joined", Sort::Joined),
    ("overlapping", Sort::Overlapping),
    ("unlisted", Sort::Unlisted),
    ("nodes", Sort::Nodes),
];

fn main() {
    let mut words = std::env::args().skip(1);
    let records = words.next().and_then(|word| word.parse::<usize>().ok());
    let name = words.next().unwrap_or_default();
    let sort = SORTS.iter().find(|(word, _)| *word == name);
    let (Some(records), Some(&(_, sort))) = (records, sort) else {
        let names = SORTS.map(|(name, _)| name).join("|");
        eprintln!("map_cost RECORDS {names}");
        std::process::exit(2);
    };
    let nodes = if sort == Sort::Nodes { records.min(1024) } else { 64 };
    let count = match sort {
        Sort::Nodes => 8192,
        Sort::Unlisted => records.min(8192),
        _ => 8 * nodes,
    };
    let mut regions: Vec<_> = (0..records).map(|at| region(at, records)).collect();
    let mut usable = vec![PfnRange::default(); regions.len()];
    let memory = MemoryMap::build(&mut regions, &mut usable, MapOptions::default(), &mut |_| ());
    let srat = srat(sort, records, nodes, count);
    // Those that are there have odd ids, those with a record even ones.
    let odd = u32::from(sort == Sort::Unlisted);
    let cpus: Vec<_> = (0..count as u32).map(|cpu| ApicId(2 * cpu + odd)).collect();
    let inputs = Inputs {
        srat: Some(&srat),
        cpus: &cpus,
        unlisted: UnlistedCpus::ByCache(CacheId::Shift(0)),
        ..Inputs::new(&memory)
    };
    let mut room = HeapRoom::new(StorageNeeds::of(Some(&srat), &memory, cpus.len()));
    let (mut findings, mut lists) = (0, 0);
    let map = node_map(&inputs, room.storage(), &mut findings);
    fallback_orders(&map, &mut lists);
    let (ranges, possible) = (map.ranges().len(), map.possible().len());
    println!(
        "{records} records {name}: {possible} nodes, {ranges} ranges, {count} CPUs, {findings} findings"
    );
}

/// What is counted as the node map.
#[inline(never)]
fn node_map<'m>(inputs: &Inputs<'_>, storage: Storage<'m>, findings: &mut usize) -> NodeMap<'m> {
    NodeMap::build(inputs, storage, &mut |_| *findings += 1)
}

/// What is counted as the lists of all nodes.
#[inline(never)]
fn fallback_orders(map: &NodeMap<'_>, entries: &mut usize) {
    let with_memory = *map.with_memory();
    let mut orders = FallbackOrders::new(&with_memory, |from, to| map.distance(from, to));
    for node in map.possible().iter() {
        orders.list(node, |_| *entries += 1);
    }
}

/// The `at`th range of memory: half of each step is a hole.
fn region(at: usize, records: usize) -> Region {
    let step = 2 * MEMORY / records as u64;
    let start = at as u64 * step;
    Region::new(start, start + step / 2, RegionKind::Usable)
}

fn srat(sort: Sort, records: usize, nodes: usize, cpus: usize) -> Vec<u8> {
    let mut bytes = vec![0; 48];
    bytes[..4].copy_from_slice(b"SRAT");
    bytes[8] = 3;
    for cpu in 0..cpus as u32 {
        // Of the nodes without memory no CPU is there, so none of them is online.
        let absent = if sort == Sort::Unlisted { nodes as u32 } else { 0 };
        let mut record = [0; 24];
        record[..2].copy_from_slice(&[2, 24]);
        record[4..8].copy_from_slice(&(cpu % nodes as u32 + absent).to_le_bytes());
        record[8..12].copy_from_slice(&(2 * cpu).to_le_bytes());
        record[12] = 1;
        bytes.extend(record);
    }
    for number in 0..records {
        // Out of order: an odd step visits all of them, since their number is even.
        let at = number * 37 % records;
        let node = match sort {
            Sort::Joined => at * nodes / records,
            _ => at % nodes,
        };
        let range = region(at, records).range;
        let mut record = [0; 40];
        record[..2].copy_from_slice(&[1, 40]);
        record[2..6].copy_from_slice(&(node as u32).to_le_bytes());
        record[8..16].copy_from_slice(&range.start.0.to_le_bytes());
        record[16..24].copy_from_slice(&range.len().to_le_bytes());
        record[28] = 1;
        bytes.extend(record);
        if sort == Sort::Overlapping {
            bytes.extend(record);
        }
    }
    let length = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[9] = sum.wrapping_neg();
    bytes
}
