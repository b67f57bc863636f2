//! System hash tables on simulated machines: where they lie, what happens without memory, and
//! that they are hash tables.

use nearmem::alloc::{FrameBlock, Interleave, MemorySubsystem, Request, interleave_nodes};
use nearmem::hash::{
    Bucket, ChainTable, Entry, HashMachine, HashOptions, MemoryPages, Placement, Plan, SystemHash,
    Table, TableSpec, allocate,
};
use nearmem::memblock::{BootRequest, MemBlock};
use nearmem::sim::{SimMachine, SimPlatform};
use nearmem::topology::NodeMap;
use nearmem::vmalloc::Vmalloc;
use nearmem::zone::kernel_pages;
use nearmem::{CpuId, NodeId, Order, PAGE_SIZE};
use std::sync::atomic::{AtomicU64, Ordering};

mod runs;

use runs::dealt;

type Memory<'m> = MemorySubsystem<'m, SimPlatform>;
type Tables<'m> = Vec<Table<'m, SimPlatform>>;

const MIB: u64 = 1 << 20;

fn machine(nodes: u16, mib_each: u64) -> SimMachine {
    let builder = (0..nodes).fold(SimMachine::builder(), |b, _| b.node(mib_each * MIB, 1));
    builder.build()
}

fn plan(map: &NodeMap<'_>, options: &HashOptions) -> Plan {
    let pages = kernel_pages(map, 0);
    let machine = HashMachine {
        memory: MemoryPages { kernel: pages, all: pages },
        possible_cpus: map.cpus().len() as u32,
        nodes_with_memory: map.with_memory().len(),
    };
    Plan::new(options, machine)
}

/// The early tables and the page allocator.
fn boot<'m>(
    machine: &'m SimMachine,
    map: &'m NodeMap<'m>,
    plan: &Plan,
) -> (Memory<'m>, Tables<'m>) {
    let mut boot: MemBlock<'_> = machine.boot_memory(map);
    let platform = machine.platform();
    // SAFETY: boot memory is the machine's RAM, which lives for `'m`, and nobody else uses it.
    let early = unsafe { plan.allocate_early(&mut boot, &platform) };
    let early = early.collect::<Result<_, _>>().unwrap();
    // SAFETY: as above.
    let mm = unsafe { MemorySubsystem::hand_over(boot, map, platform, Default::default()) };
    let mm = mm.unwrap();
    mm.set_up_pagesets().unwrap();
    (mm, early)
}

fn free(mm: &Memory<'_>) -> u64 {
    mm.drain_all();
    mm.zones().iter().map(|zone| zone.free()).sum()
}

fn table<'a, 'm>(tables: &'a Tables<'m>, name: &str) -> &'a Table<'m, SimPlatform> {
    tables.iter().find(|table| table.info().name == name).unwrap()
}

fn pages(table: &Table<'_, SimPlatform>) -> Vec<(u16, u64)> {
    table.pages_by_node().map(|(node, pages)| (node.0, pages)).collect()
}

fn with_boot(
    nodes: u16,
    mib_each: u64,
    options: HashOptions,
    check: impl FnOnce(&NodeMap<'_>, &Memory<'_>, &Tables<'_>, &Plan),
) {
    let machine = machine(nodes, mib_each);
    let map = machine.map();
    let plan = plan(&map, &options);
    let (mm, mut tables) = boot(&machine, &map, &plan);
    let vmalloc = Vmalloc::new(&mm);
    let turns = Interleave::new(interleave_nodes(&map));
    tables.extend(plan.allocate_late(&vmalloc, &turns).map(|table| table.unwrap()));
    assert_eq!(tables.len(), plan.tables().count());
    for (table, spec) in plan.early().chain(plan.late()).zip(&tables).map(|(s, t)| (t, s)) {
        let info = table.info();
        assert_eq!((info.name, info.entries, info.early), (spec.name, spec.entries(), spec.early));
        assert_eq!(info.bytes, info.entries * spec.size.bucket_bytes);
        let counted: u64 = table.pages_by_node().map(|(_, pages)| pages).sum();
        assert_eq!(counted, info.bytes.div_ceil(PAGE_SIZE), "{info}");
        if spec.zero {
            // SAFETY: the table has that many bytes, and nobody writes them.
            let bytes = unsafe { std::slice::from_raw_parts(table.as_ptr(), info.bytes as usize) };
            assert!(bytes.iter().all(|&byte| byte == 0), "{info}");
        }
    }
    check(&map, &mm, &tables, &plan);
    let shared = mm.zones().iter().map(|zone| zone.leaked()).sum::<u64>();
    assert_eq!(shared, 0);
    for table in tables {
        let early = table.info().early;
        assert_eq!(table.free().is_err(), early);
    }
    assert_eq!((vmalloc.area_count(), machine.table_frames()), (0, 0));
}

#[test]
fn spread_tables_are_dealt_over_the_nodes() {
    with_boot(4, 64, HashOptions::default(), |_, _, tables, _| {
        for table in tables.iter().filter(|table| table.info().name != "PID") {
            let info = table.info();
            assert_eq!(info.placement, Placement::Vmalloc, "{info}");
            let wanted = dealt(info.bytes / PAGE_SIZE, 4);
            let mut counts = vec![0; 4];
            table.pages_by_node().for_each(|(node, pages)| counts[node.index()] = pages);
            let rotated = (0..4).any(|_| {
                counts.rotate_left(1);
                counts == wanted
            });
            assert!(rotated, "{info}: {counts:?}, not {wanted:?} from any node on");
        }
        let info = table(tables, "Dentry cache").info();
        assert_eq!(
            info.to_string(),
            "Dentry cache hash table entries: 32768 (order: 6, 262144 bytes, vmalloc)"
        );
    });
}

#[test]
fn tables_that_are_not_spread_lie_in_one_piece_each_on_the_next_node() {
    let off = HashOptions { hashdist: Some(false), ..HashOptions::default() };
    with_boot(4, 64, off, |_, _, tables, plan| {
        assert_eq!(plan.early().count(), 3);
        let mut turns = Vec::new();
        for table in tables {
            let (info, pages) = (table.info(), pages(table));
            assert_eq!((info.placement, pages.len()), (Placement::Linear, 1), "{info}");
            match info.early {
                true => assert_eq!(pages[0].0, 0, "boot memory grows upward on the lowest node"),
                false => turns.push(pages[0].0),
            }
        }
        assert_eq!(turns, [0, 1, 2, 3, 0, 1]);
    });
}

#[test]
fn a_table_above_4_mib_comes_from_vmalloc_even_unspread() {
    let options = HashOptions {
        hashdist: Some(false),
        thash_entries: Some(1 << 20),
        mhash_entries: Some(1 << 19),
        ..HashOptions::default()
    };
    with_boot(2, 96, options, |_, _, tables, _| {
        let (large, linear) = (table(tables, "TCP established"), table(tables, "Mount-cache"));
        assert_eq!((large.info().order, large.info().placement), (11, Placement::VmallocHuge));
        assert_eq!((linear.info().order, linear.info().placement), (10, Placement::Linear));
        assert_eq!(pages(large), [(0, 1024), (1, 1024)]);
    });
}

#[test]
fn large_pages_where_every_node_gets_one() {
    let options = HashOptions {
        dhash_entries: Some(1 << 20),
        ihash_entries: Some(1 << 19),
        ..HashOptions::default()
    };
    with_boot(4, 96, options, |_, _, tables, _| {
        let (dentry, inode) = (table(tables, "Dentry cache"), table(tables, "Inode-cache"));
        assert_eq!(dentry.info().placement, Placement::VmallocHuge);
        assert_eq!(pages(dentry), [(0, 512), (1, 512), (2, 512), (3, 512)]);
        assert_eq!(inode.info().placement, Placement::Vmalloc);
        let counts: Vec<u64> = pages(inode).iter().map(|entry| entry.1).collect();
        let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
        assert!(spread <= 1024_u64.div_ceil(100), "{counts:?}");
    });
}

#[test]
fn one_node_with_memory_is_not_spread_unless_told_to() {
    let machine = SimMachine::builder().node(64 * MIB, 1).node(0, 1).build();
    let map = machine.map();
    for (hashdist, placement) in [(None, Placement::Linear), (Some(true), Placement::Vmalloc)] {
        let plan = plan(&map, &HashOptions { hashdist, ..HashOptions::default() });
        assert_eq!(plan.early().count(), if hashdist.is_none() { 3 } else { 1 });
        let machine = SimMachine::builder().node(64 * MIB, 1).node(0, 1).build();
        let map = machine.map();
        let mm = machine.start(&map, Default::default());
        let vmalloc = Vmalloc::new(&mm);
        let turns = Interleave::new(interleave_nodes(&map));
        for table in plan.allocate_late(&vmalloc, &turns) {
            assert_eq!(table.unwrap().info().placement, placement);
        }
    }
}

/// Takes all memory, and frees as many blocks of `order` as to `leave`.
fn exhaust<'m>(mm: &Memory<'m>, order: Order, leave: usize) -> Vec<FrameBlock<'m>> {
    let take = |order| std::iter::from_fn(move || mm.alloc(&Request::new(order)).ok());
    let mut held: Vec<_> = take(order).collect();
    let spare: Vec<_> = held.drain(..leave).collect();
    held.extend(take(Order::ZERO));
    spare.into_iter().for_each(|block| mm.free(block).unwrap());
    held
}

fn dentry(distribute: bool, entries: u64) -> TableSpec {
    let memory = MemoryPages { kernel: 1 << 20, all: 1 << 20 };
    let options = HashOptions {
        hashdist: Some(distribute),
        dhash_entries: Some(entries),
        ..HashOptions::default()
    };
    let machine = HashMachine { memory, possible_cpus: 1, nodes_with_memory: 1 };
    let plan = Plan::new(&options, machine);
    let spec = *plan.tables().find(|table| table.name == "Dentry cache").unwrap();
    TableSpec { early: false, ..spec }
}

#[test]
fn without_memory_a_table_is_halved_and_says_so() {
    for distribute in [false, true] {
        let machine = machine(1, 16);
        let map = machine.map();
        let mm = machine.start(&map, Default::default());
        let vmalloc = Vmalloc::new(&mm);
        let before = free(&mm);
        let turns = Interleave::new(interleave_nodes(&map));
        // 2^17 entries are 1 MiB; four blocks of 64 KiB are left.
        let held = exhaust(&mm, Order::new(4).unwrap(), 4);
        let table = allocate(&dentry(distribute, 1 << 17), &vmalloc, &turns).unwrap();
        let info = *table.info();
        assert_eq!(info.wanted, 1 << 17);
        assert!(info.entries < info.wanted && info.bytes >= PAGE_SIZE, "{info}");
        assert_eq!(info.bytes, info.entries * 8);
        assert_eq!(1 << info.order << 12, info.bytes);
        let said = info.shortfall().unwrap().to_string();
        let expected = format!("no memory for 131072 entries; {} instead", info.entries);
        assert!(said.ends_with(&expected), "{said}");
        let hash = ChainTable::new(table).unwrap();
        assert_eq!(hash.hash().len() as u64, info.entries, "the mask follows the final size");
        // Whoever makes buckets of the memory again finds none of the old entries.
        assert!(hash.insert(Box::leak(Box::new(Entry::new(7, 8)))).is_ok());
        let again = ChainTable::new(hash.into_table()).unwrap();
        assert_eq!(again.get(7), None);
        again.into_table().free().unwrap();
        held.into_iter().for_each(|block| mm.free(block).unwrap());
        assert_eq!(free(&mm), before);
    }
}

#[test]
fn without_any_memory_a_table_is_an_error() {
    let machine = machine(1, 16);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let turns = Interleave::new(interleave_nodes(&map));
    let held = exhaust(&mm, Order::ZERO, 0);
    for distribute in [false, true] {
        let error = allocate(&dentry(distribute, 1 << 17), &vmalloc, &turns).unwrap_err();
        assert_eq!(error.wanted, 1 << 17);
        let said = error.to_string();
        assert!(said.starts_with("Dentry cache hash table: no memory, so there is none"), "{said}");
    }
    held.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[test]
fn an_early_table_is_halved_too_and_fails_only_without_a_page() {
    let machine = machine(1, 16);
    let map = machine.map();
    let mut boot = machine.boot_memory(&map);
    let spec = TableSpec { early: true, ..dentry(false, 1 << 22) };
    let platform = machine.platform();
    // SAFETY: boot memory is the machine's RAM, and nobody else uses it.
    let table: Table<'_, SimPlatform> =
        unsafe { nearmem::hash::allocate_early(&spec, &mut boot, &platform) }.unwrap();
    assert_eq!((table.info().bytes, table.info().wanted), (8 * MIB, 1 << 22));
    assert_eq!(pages(&table), [(0, 2048)]);
    let request = BootRequest { bytes: 1, align: 1, node: None, strict: false };
    for bytes in [MIB, PAGE_SIZE, 1] {
        while boot.alloc(BootRequest { bytes, ..request }).is_ok() {}
    }
    // SAFETY: as above.
    let none: Result<Table<'_, SimPlatform>, _> =
        unsafe { nearmem::hash::allocate_early(&spec, &mut boot, &platform) };
    assert!(none.unwrap_err().to_string().contains("boot memory"));
}

#[test]
fn a_tail_that_a_table_does_not_need_is_free() {
    let machine = machine(1, 32);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let before = free(&mm);
    let turns = Interleave::new(interleave_nodes(&map));
    // Buckets of 24 bytes: 2^12 of them are 24 pages, in a block of 32.
    let mut spec = dentry(false, 1 << 12);
    spec.size.bucket_bytes = 24;
    let table = allocate(&spec, &vmalloc, &turns).unwrap();
    assert_eq!((table.info().bytes, table.info().order), (24 * PAGE_SIZE, 5));
    assert_eq!(before - free(&mm), 24);
    assert_eq!(pages(&table), [(0, 24)]);
    table.free().unwrap();
    assert_eq!(free(&mm), before);
}

#[test]
fn the_table_of_bound_ports_is_as_large_as_that_of_connections_came_out() {
    let machine = machine(1, 16);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let turns = Interleave::new(interleave_nodes(&map));
    let options = HashOptions {
        hashdist: Some(true),
        thash_entries: Some(1 << 15),
        dhash_entries: Some(2),
        ihash_entries: Some(2),
        ..HashOptions::default()
    };
    // 2^15 entries are 64 pages; fewer are left.
    let plan = plan(&map, &options);
    let held = exhaust(&mm, Order::new(4).unwrap(), 3);
    let tables: Vec<_> = plan.allocate_late(&vmalloc, &turns).filter_map(Result::ok).collect();
    let entries = |name| table(&tables, name).info().wanted;
    let established = table(&tables, "TCP established").info();
    assert!(established.entries < 1 << 15, "{established}");
    assert_eq!(entries("TCP bind"), established.entries);
    held.into_iter().for_each(|block| mm.free(block).unwrap());
}

#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; 8]);

// SAFETY: zeros are eight atomics of 0, the default.
unsafe impl Bucket for Line {}

#[test]
fn buckets_are_empty_at_first_also_where_the_memory_is_not_zeroed() {
    with_boot(2, 32, HashOptions::default(), |map, _, _, plan| {
        // The tables are checked by `with_boot`; this one is not zeroed.
        let futex = *plan.late().find(|table| table.name == "futex").unwrap();
        assert!(!futex.zero);
        let other = machine(2, 32);
        let other_map = other.map();
        assert_eq!(map.online(), other_map.online());
        let mm = other.start(&other_map, Default::default());
        let vmalloc = Vmalloc::new(&mm);
        let turns = Interleave::new(interleave_nodes(&other_map));
        let table = allocate(&futex, &vmalloc, &turns).unwrap();
        let table = match ChainTable::new(table) {
            Err(wrong) => wrong.table,
            Ok(_) => panic!("buckets of 64 bytes are not of 8"),
        };
        let futexes = SystemHash::<Line, _>::new(table).unwrap();
        assert_eq!(futexes.len(), 512);
        assert!(
            futexes.iter().all(|line| line
                .0
                .iter()
                .all(|word| { word.fetch_add(1, Ordering::Relaxed) == 0 }))
        );
        assert!((0..10_000).all(|key| futexes.index_of(key) < 512));
        futexes.into_table().free().unwrap();
    });
}

#[test]
fn tables_are_hash_tables_wherever_they_lie() {
    // Miri maps nothing, and is slow.
    let (count, linear): (u64, u64) = if cfg!(miri) { (200, 1 << 9) } else { (20_000, 1 << 14) };
    let cases = [
        (false, linear, Placement::Linear),
        (true, 1 << 14, Placement::Vmalloc),
        (true, 1 << 19, Placement::VmallocHuge),
    ];
    for (distribute, entries, placement) in cases.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
        let machine = machine(2, 32);
        let map = machine.map();
        let mm = machine.start(&map, Default::default());
        let vmalloc = Vmalloc::new(&mm);
        let before = free(&mm);
        let turns = Interleave::new(interleave_nodes(&map));
        let table = allocate(&dentry(distribute, entries), &vmalloc, &turns).unwrap();
        assert_eq!(table.info().placement, placement);
        let key = |number: u64| number * 4096 + 64;
        let mut entries: Vec<Entry> = (0..count).map(|n| Entry::new(key(n), n)).collect();
        let hash = ChainTable::new(table).unwrap();
        let (left, right) = entries.split_at_mut(count as usize / 2);
        let mut twice = Entry::new(key(5), 0);
        std::thread::scope(|scope| {
            for (cpu, half) in [(0, left), (1, right)] {
                let (machine, hash) = (&machine, &hash);
                scope.spawn(move || {
                    machine.run_on(CpuId(cpu), || {
                        for entry in half {
                            let (key, value) = (entry.key(), entry.value());
                            hash.insert(entry).unwrap();
                            assert_eq!(hash.get(key), Some(value));
                        }
                    })
                });
            }
        });
        assert_eq!(hash.insert(&mut twice).unwrap_err().key(), key(5), "it is there already");
        assert!((0..count).all(|number| hash.get(key(number)) == Some(number)));
        assert_eq!(hash.get(1), None);
        assert!(hash.set(key(7), 70) && !hash.set(1, 1));
        assert_eq!(hash.lengths().sum::<usize>() as u64, count);
        let longest = hash.lengths().max().unwrap();
        assert!(longest <= 16, "keys are spread: the longest chain has {longest}");
        for number in (0..count).rev() {
            let entry = hash.remove(key(number)).unwrap();
            assert_eq!(entry.value(), if number == 7 { 70 } else { number });
            assert!(hash.remove(key(number)).is_none());
        }
        assert_eq!(hash.lengths().sum::<usize>(), 0);
        hash.into_table().free().unwrap();
        assert_eq!(free(&mm), before);
    }
}

#[test]
fn an_exhausted_node_does_not_stop_a_spread_table() {
    let machine = machine(4, 32);
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let vmalloc = Vmalloc::new(&mm);
    let mut held = Vec::new();
    while mm.alloc_bulk(NodeId(2), 8, &mut |block| held.push(block)) == 8 {}
    let turns = Interleave::new(interleave_nodes(&map));
    let table = allocate(&dentry(true, 1 << 19), &vmalloc, &turns).unwrap();
    assert_eq!(table.info().entries, 1 << 19);
    let counts = pages(&table);
    assert_eq!(counts.iter().map(|entry| entry.1).sum::<u64>(), 1024);
    let on_two = counts.iter().find(|entry| entry.0 == 2).map_or(0, |entry| entry.1);
    assert!(on_two < 128, "{counts:?}");
    table.free().unwrap();
    held.into_iter().for_each(|block| mm.free(block).unwrap());
}
