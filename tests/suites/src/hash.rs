//! The large system hash tables: which there are, where their pages lie, and that they work.

use alloc::vec::Vec;

use nearmem::alloc::{FrameBlock, Interleave, Request, interleave_nodes};
use nearmem::hash::{
    ChainTable, Entry, HashMachine, MemoryPages, Placement, Plan, TableInfo, allocate,
};
use nearmem::{NodeId, Order, PAGE_SIZE, PhysAddr};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;
use nearmem_x86_64::exceptions::probe;

use crate::page_tables::leaf;
use crate::support::{all_free_frames, give_back, runs};

kernel_tests! {
    the_boot_list_is_complete,
    figures_of_each_table_agree,
    placement_is_what_the_option_says,
    pages_add_up_and_lie_on_nodes_with_memory,
    spread_tables_lie_as_run_arithmetic_says,
    linear_tables_lie_whole_on_one_node,
    early_tables_lie_at_the_bottom_of_boot_memory,
    tables_are_memory_of_their_own,
    entries_are_inserted_found_and_removed,
    a_table_is_halved_when_memory_is_short,
}

/// Linux's names, in boot order.
const NAMES: [&str; 9] = [
    "PID",
    "Dentry cache",
    "Inode-cache",
    "Mount-cache",
    "Mountpoint-cache",
    "futex",
    "TCP established",
    "TCP bind",
    "UDP",
];
/// Those that Linux takes from boot memory when they are not to be spread.
const EARLY: [&str; 2] = ["Dentry cache", "Inode-cache"];

fn infos(kernel: &Kernel) -> impl Iterator<Item = &TableInfo> {
    kernel.tables.iter().map(|table| table.info())
}

/// Whether tables are spread: as `hashdist=` says, and without it where more than one node has
/// memory.
fn spread(kernel: &Kernel) -> bool {
    kernel.options.hash.hashdist.unwrap_or(kernel.map.with_memory().len() > 1)
}

fn the_boot_list_is_complete(kernel: &Kernel) {
    let mut names: Vec<_> = infos(kernel).map(|info| info.name).collect();
    names.sort_unstable();
    let mut expected = NAMES;
    expected.sort_unstable();
    assert_eq!(names, expected);
}

fn figures_of_each_table_agree(kernel: &Kernel) {
    for info in infos(kernel) {
        assert!(info.entries.is_power_of_two(), "{info}");
        assert_eq!(info.entries, info.wanted, "{info}: halved on a machine with memory to spare");
        assert!(info.bytes.is_multiple_of(info.entries), "{info}");
        let holds = |order: u32| PAGE_SIZE << order >= info.bytes;
        assert!(holds(info.order), "{info}");
        assert!(info.order == 0 || !holds(info.order - 1), "{info}");
    }
}

fn placement_is_what_the_option_says(kernel: &Kernel) {
    let online = kernel.map.online().len() as u64;
    for info in infos(kernel) {
        let early = info.name == "PID" || (!spread(kernel) && EARLY.contains(&info.name));
        assert_eq!(info.early, early, "{info}");
        let expected = match () {
            () if early => Placement::Linear,
            // A table above 4 MiB is too large for one block.
            () if !spread(kernel) && info.order <= 10 => Placement::Linear,
            () if info.bytes / online >= 2 << 20 => Placement::VmallocHuge,
            () => Placement::Vmalloc,
        };
        assert_eq!(info.placement, expected, "{info}");
    }
}

fn pages_add_up_and_lie_on_nodes_with_memory(kernel: &Kernel) {
    for table in &kernel.tables {
        let info = table.info();
        let pages: u64 = table.pages_by_node().map(|(_, pages)| pages).sum();
        assert_eq!(pages, info.bytes.div_ceil(PAGE_SIZE), "{info}");
        let mut nodes = table.pages_by_node().map(|(node, _)| node);
        assert!(nodes.all(|node| kernel.map.with_memory().contains(node)), "{info}");
    }
}

/// Up to rotation: where a table begins depends on all that was interleaved before.
fn spread_tables_lie_as_run_arithmetic_says(kernel: &Kernel) {
    let nodes = interleave_nodes(kernel.map);
    for table in &kernel.tables {
        let info = table.info();
        let mut expected: Vec<u64> = match info.placement {
            Placement::Linear => continue,
            Placement::Vmalloc => {
                runs(info.bytes.div_ceil(PAGE_SIZE), &nodes).iter().map(|&(_, n)| n).collect()
            }
            Placement::VmallocHuge => {
                let (blocks, many) = (info.bytes.div_ceil(2 << 20), nodes.len() as u64);
                (0..many)
                    .map(|turn| (blocks / many + u64::from(turn < blocks % many)) * 512)
                    .collect()
            }
        };
        let mut counts: Vec<u64> = table.pages_by_node().map(|(_, pages)| pages).collect();
        counts.sort_unstable();
        expected.retain(|&pages| pages > 0);
        expected.sort_unstable();
        assert_eq!(counts, expected, "{info}");
    }
}

/// Where a table's first byte is.
fn physical(info: &TableInfo) -> PhysAddr {
    let leaf = leaf(info.address).expect("a table is mapped");
    PhysAddr(leaf.to.0 + (info.address.0 - leaf.at.0))
}

fn linear_tables_lie_whole_on_one_node(kernel: &Kernel) {
    let linear = kernel.tables.iter().filter(|table| table.info().placement == Placement::Linear);
    for table in linear {
        let nodes: Vec<NodeId> = table.pages_by_node().map(|(node, _)| node).collect();
        let info = table.info();
        let at = physical(info);
        assert_eq!(nodes, [kernel.map.node_of(at.pfn()).expect("memory")], "{info}");
        let last = PhysAddr(at.0 + info.bytes - 1);
        assert_eq!(kernel.map.node_of(last.pfn()), Some(nodes[0]), "{info}");
    }
}

/// Boot memory grows upward from 16 MiB, which is what loaded node 0 before 2007.
fn early_tables_lie_at_the_bottom_of_boot_memory(kernel: &Kernel) {
    let floor = PhysAddr(16 << 20);
    let bottom = kernel.map.ranges().iter().find(|range| range.frames.end > floor.pfn());
    let bottom = bottom.expect("memory above 16 MiB").node;
    for table in kernel.tables.iter().filter(|table| table.info().early) {
        let nodes: Vec<NodeId> = table.pages_by_node().map(|(node, _)| node).collect();
        assert_eq!(nodes, [bottom], "{}", table.info());
        assert!(physical(table.info()) >= floor, "{} is below 16 MiB", table.info());
    }
}

fn tables_are_memory_of_their_own(kernel: &Kernel) {
    for info in infos(kernel) {
        for offset in (0..info.bytes).step_by(PAGE_SIZE as usize).chain([info.bytes - 1]) {
            assert!(probe::read(info.address + offset).is_ok(), "{info} at {offset:#x}");
        }
        let end = info.address + info.bytes;
        for other in infos(kernel).filter(|other| other.name != info.name) {
            let apart = end <= other.address || other.address + other.bytes <= info.address;
            assert!(apart, "{info} and {other} overlap");
        }
    }
}

/// The plan of a machine with so many frames, with this machine's options.
fn plan(kernel: &Kernel, frames: u64) -> Plan {
    let machine = HashMachine {
        memory: MemoryPages { kernel: frames, all: frames },
        possible_cpus: kernel.map.cpus().len() as u32,
        nodes_with_memory: kernel.map.with_memory().len(),
    };
    Plan::new(&kernel.options.hash, machine)
}

/// On tables made as at boot: each one whose buckets are chains.
fn entries_are_inserted_found_and_removed(kernel: &Kernel) {
    let plan = plan(kernel, 1 << 15);
    let chained: Vec<_> = plan.late().filter(|spec| spec.size.bucket_bytes == 8).collect();
    assert!(chained.len() >= 3, "{} tables have buckets of 8 bytes", chained.len());
    for spec in chained {
        // More entries than the smallest table has buckets, so that there are chains.
        let mut entries: Vec<Entry> = (0..1500).map(|key| Entry::new(key, key * key)).collect();
        let mut twin = Entry::new(7, 0);
        let before = all_free_frames(kernel);

        let turns = Interleave::new(interleave_nodes(kernel.map));
        let table = allocate(spec, kernel.vmalloc, &turns).expect("a table");
        let table = ChainTable::new(table).expect("buckets of 8 bytes");
        for entry in entries.iter_mut() {
            assert!(table.insert(entry).is_ok(), "{}", spec.name);
        }
        assert!(table.insert(&mut twin).is_err(), "7 is there already");
        assert!((0..1500).all(|key| table.get(key) == Some(key * key)), "{}", spec.name);
        assert_eq!(table.get(1500), None);
        for key in (0..1500).step_by(2) {
            let entry = table.remove(key).expect("an entry that is there");
            assert_eq!((entry.key(), entry.value()), (key, key * key));
        }
        for key in 0..1500 {
            assert_eq!(table.get(key).is_some(), key % 2 == 1, "key {key} of {}", spec.name);
        }
        assert_eq!(table.lengths().sum::<usize>(), 750);

        table.into_table().free().expect("a late table can be freed");
        assert_eq!(all_free_frames(kernel), before, "free frames after {}", spec.name);
    }
}

/// With 40 frames free, a table of 64 cannot be had, and one of 32 or less can.
fn a_table_is_halved_when_memory_is_short(kernel: &Kernel) {
    let plan = plan(kernel, 1 << 22);
    let spec = plan.late().find(|spec| spec.name == "Mount-cache").expect("it is always late");
    assert_eq!(spec.bytes(), 64 * PAGE_SIZE);
    // The heap never shrinks, so the list is made first.
    let mut taken = Vec::with_capacity(16 << 10);
    let before = all_free_frames(kernel);
    take_all(kernel, &mut taken);
    let spare = taken.iter().rposition(|block| block.order().pages() >= 64).expect("a block");
    for (at, frame) in taken.swap_remove(spare).into_frames().enumerate() {
        match at < 40 {
            true => give_back(kernel.memory, frame),
            false => taken.push(frame),
        }
    }

    let turns = Interleave::new(interleave_nodes(kernel.map));
    let table = allocate(spec, kernel.vmalloc, &turns).expect("a smaller table");
    let info = *table.info();
    assert!(info.entries < info.wanted && info.entries.is_power_of_two(), "{info}");
    assert_eq!(info.wanted, spec.entries());
    let shortfall = info.shortfall().expect("a table that is smaller than it should be");
    assert_eq!((shortfall.entries, shortfall.wanted), (info.entries, info.wanted));
    table.free().expect("a late table can be freed");

    taken.drain(..).for_each(|block| give_back(kernel.memory, block));
    assert_eq!(all_free_frames(kernel), before, "free frames");
}

/// Takes all that the machine gives, large blocks first.
fn take_all(kernel: &Kernel, taken: &mut Vec<FrameBlock<'static>>) {
    for order in Order::all().rev() {
        while let Ok(block) = kernel.memory.alloc(&Request::new(order)) {
            assert!(taken.len() + 1024 < taken.capacity(), "more blocks than the list holds");
            taken.push(block);
        }
    }
}
