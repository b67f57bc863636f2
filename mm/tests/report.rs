//! Reports of a running memory subsystem: the text of a whole machine, and that reading it changes
//! nothing.

use nearmem::alloc::{MemorySubsystem, Options, Policy, Request};
use nearmem::report::{buddyinfo, collect, node_table, numactl, numastat, ranges};
use nearmem::report::{zoneinfo, zonelists};
use nearmem::sim::{SimMachine, SimPlatform};
use nearmem::{NodeId, Order};

const MIB: u64 = 1 << 20;

/// Two nodes with memory, and one with a CPU only.
fn three_nodes() -> SimMachine {
    let machine = SimMachine::builder().node(96 * MIB, 2).node(64 * MIB, 1).node(0, 1);
    machine.distances(&[10, 20, 30, 20, 10, 15, 30, 15, 10]).pc_holes().build()
}

/// Boots the machine and hands its memory to `work`.
fn with_memory(machine: &SimMachine, work: impl FnOnce(&MemorySubsystem<'_, SimPlatform>)) {
    let map = machine.map();
    let boot = machine.boot_memory(&map);
    // SAFETY: the machine's RAM is nobody else's, and outlives `memory`.
    let memory =
        unsafe { MemorySubsystem::hand_over(boot, &map, machine.platform(), Options::default()) };
    let memory = memory.expect("room for the tables");
    memory.set_up_pagesets().expect("memory for the pagesets");
    work(&memory);
}

/// Everything that can be printed.
fn everything(memory: &MemorySubsystem<'_, SimPlatform>) -> String {
    let mut out = String::new();
    let map = memory.map();
    ranges::write(&mut out, map).unwrap();
    zonelists::write(&mut out, memory).unwrap();
    numactl::write(&mut out, map, |node| collect::node_memory(memory, node)).unwrap();
    buddyinfo::write_all(&mut out, memory).unwrap();
    zoneinfo::write_all(&mut out, memory).unwrap();
    for node in map.online().iter() {
        numastat::write(&mut out, &memory.node_counters(node)).unwrap();
    }
    out
}

#[test]
fn boot_log_of_a_machine_with_a_memoryless_node() {
    with_memory(&three_nodes(), |memory| {
        let mut out = String::new();
        ranges::write(&mut out, memory.map()).unwrap();
        zonelists::write(&mut out, memory).unwrap();
        let pages = collect::zonelist_pages(memory);
        assert!(0 < pages && pages < 160 * 256, "{pages}");
        assert_eq!(
            out,
            format!(
                "Zone ranges:
  DMA      [mem 0x0000000000000000-0x0000000000ffffff]
  DMA32    [mem 0x0000000001000000-0x0000000009ffffff]
  Normal   empty
Early memory node ranges
  node   0: [mem 0x0000000000000000-0x000000000009efff]
  node   0: [mem 0x0000000000100000-0x0000000005ffffff]
  node   1: [mem 0x0000000006000000-0x0000000009ffffff]
Initmem setup node 0 [mem 0x0000000000000000-0x0000000005ffffff]
Initmem setup node 1 [mem 0x0000000006000000-0x0000000009ffffff]
Initializing node 2 as memoryless
Initmem setup node 2 as memoryless
Fallback order for Node 0: 0 1 
Fallback order for Node 1: 1 0 
Fallback order for Node 2: 2 1 0 
Built 3 zonelists, mobility grouping off.  Total pages: {pages}
Policy zone: DMA32
"
            )
        );
    });
}

#[test]
fn hardware_of_a_machine_with_a_memoryless_node() {
    with_memory(&three_nodes(), |memory| {
        let mut out = String::new();
        numactl::write(&mut out, memory.map(), |node| collect::node_memory(memory, node)).unwrap();
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "available: 3 nodes (0-2)");
        assert_eq!(lines[1], "node 0 cpus: 0 1");
        assert_eq!(lines[4], "node 1 cpus: 2");
        assert_eq!(
            lines[7..],
            [
                "node 2 cpus: 3",
                "node 2 size: 0 MB",
                "node 2 free: 0 MB",
                "node distances:",
                "node   0   1   2 ",
                "  0:  10  20  30 ",
                "  1:  20  10  15 ",
                "  2:  30  15  10 ",
            ]
        );
    });
}

#[test]
fn reading_changes_nothing() {
    with_memory(&three_nodes(), |memory| {
        let block = memory.alloc(&Request::new(Order::ZERO).on(Policy::Preferred(NodeId(1))));
        let before = everything(memory);
        assert_eq!(before, everything(memory));
        assert!(collect::pagesets(memory, memory.zones()[0].id()).count() == 4);
        memory.free(block.unwrap()).unwrap();
    });
}

#[test]
fn buddyinfo_has_every_free_frame_and_zoneinfo_every_parked_one() {
    with_memory(&three_nodes(), |memory| {
        let block = memory.alloc(&Request::new(Order::ZERO)).unwrap();
        let mut text = String::new();
        buddyinfo::write_all(&mut text, memory).unwrap();
        for (line, zone) in text.lines().zip(memory.zones()) {
            let counts = line.split_whitespace().skip(4).map(|count| count.parse::<u64>().unwrap());
            let free: u64 = counts.zip(Order::all()).map(|(count, o)| count * o.pages()).sum();
            assert_eq!(free, zone.free(), "{line}");
        }
        assert_eq!(text.lines().count(), 3, "{text}");

        text.clear();
        zoneinfo::write_all(&mut text, memory).unwrap();
        let parked = |line: &str| line.trim().strip_prefix("count: ")?.parse::<u64>().ok();
        let counted: u64 = text.lines().filter_map(parked).sum();
        let expected: u64 = memory.zones().iter().map(|zone| memory.parked_in(zone.id())).sum();
        assert_eq!(counted, expected);
        assert!(expected > 0, "the allocation has filled a pageset");
        // Three kinds of zone on each of three nodes.
        assert_eq!(text.lines().filter(|line| line.starts_with("Node ")).count(), 9);
        memory.free(block).unwrap();
    });
}

#[test]
fn the_node_table_accounts_for_all_ram() {
    with_memory(&three_nodes(), |memory| {
        let mut out = String::new();
        let figures = |node| collect::node_memory(memory, node);
        node_table::write(&mut out, memory.map().online(), figures, |_| 0).unwrap();
        let all = out.lines().last().unwrap();
        let numbers: Vec<u64> =
            all.split_whitespace().skip(1).map(|number| number.parse().unwrap()).collect();
        // 160 MiB less the hole from 0x9f000 to 1 MiB.
        assert_eq!(numbers[0], 160 * 1024 - (1024 - 0x9f * 4));
        assert_eq!(numbers[1] + numbers[2], numbers[0]);
        assert!(out.lines().all(|line| line.len() <= 80), "{out}");
    });
}
