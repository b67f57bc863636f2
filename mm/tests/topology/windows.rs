//! CXL windows as nodes-to-be.

use nearmem::topology::{NodeMap, NumaOption, Source};
use nearmem::{NodeId, PhysAddr, PhysRange};

use super::tables::{Machine, Seen, cpu, memory, slit, srat, table};

const GIB: u64 = 1 << 30;

fn gib(start: u64, end: u64) -> PhysRange {
    PhysRange::new(start * GIB, end * GIB)
}

/// A CEDT with a host bridge and these windows, each as base and length.
pub fn cedt(windows: &[(u64, u64)]) -> Vec<u8> {
    let mut bridge = vec![0; 32];
    bridge[2] = 32;
    let record = |&(base, length): &(u64, u64)| {
        let mut record = vec![0; 40];
        record[..4].copy_from_slice(&[1, 0, 40, 0]);
        record[8..16].copy_from_slice(&base.to_le_bytes());
        record[16..24].copy_from_slice(&length.to_le_bytes());
        record
    };
    let records: Vec<_> = [bridge].into_iter().chain(windows.iter().map(record)).collect();
    table(b"CEDT", 1, &records.concat())
}

fn windows(ranges: &[PhysRange]) -> Vec<u8> {
    cedt(&ranges.iter().map(|range| (range.start.0, range.len())).collect::<Vec<_>>())
}

/// Two nodes, domains 0 and 5, of 2 GiB; a hot-plug range of domain 5 from 8 to 16 GiB.
fn two_nodes() -> Vec<u8> {
    let mut hotplug = memory(5, gib(8, 16));
    hotplug[28] |= 2;
    srat(3, &[cpu(0, 0), cpu(5, 1), memory(0, gib(0, 2)), memory(5, gib(2, 4)), hotplug])
}

const RAM: [PhysRange; 1] = [PhysRange::new(0, 4 << 30)];

fn with<R>(cedt: &[u8], look: impl FnOnce(&NodeMap<'_>, &Seen) -> R) -> R {
    let table = two_nodes();
    Machine { cedt: Some(cedt), ..Machine::new(&RAM, &table) }.map(look)
}

/// The domain of each possible node, in order of ids.
fn domains(map: &NodeMap<'_>) -> Vec<u32> {
    map.possible().iter().map(|node| map.pxm(node).unwrap().0).collect()
}

#[test]
fn windows_count_on_from_the_highest_domain_and_are_possible_only() {
    with(&windows(&[gib(64, 128), gib(16, 32)]), |map, seen| {
        assert_eq!(domains(map), [0, 5, 6, 7]);
        assert_eq!(map.online().to_string(), "0-1");
        assert_eq!(map.with_memory().to_string(), "0-1");
        assert_eq!(map.node_of_address(PhysAddr(64 * GIB)), None);
        let names = seen.names();
        assert_eq!(names.iter().filter(|&&name| name == "cedt-window").count(), 2);
        let text = seen.findings[0].to_string();
        assert_eq!(
            text,
            "CEDT, record 1 at 0x44: [mem 0x1000000000-0x1fffffffff] is a CXL window in no SRAT \
             range: domain 6 and node 2 are kept for it"
        );
    });
}

#[test]
fn a_window_that_a_range_has_makes_no_node() {
    // Its first byte, its last byte, all of it and more: a range without memory counts, too.
    for window in [gib(8, 9), gib(12, 20), gib(4, 9), gib(4, 20), gib(3, 4), gib(9, 10)] {
        with(&windows(&[window]), |map, seen| {
            assert_eq!((map.source(), domains(map)), (Source::Srat, vec![0, 5]), "{window}");
            assert!(seen.names().contains(&"cedt-window-in-srat"));
        });
    }
    // What touches ranges and shares no byte is in none.
    with(&windows(&[gib(4, 8), gib(16, 17)]), |map, _| assert_eq!(domains(map), [0, 5, 6, 7]));
    // The second of two windows over the same addresses is the first one's.
    with(&windows(&[gib(32, 64), gib(63, 70)]), |map, seen| {
        assert_eq!(domains(map), [0, 5, 6]);
        let covered = seen.findings.iter().find(|f| f.kind.name() == "cedt-window-in-srat");
        assert!(covered.unwrap().to_string().contains("has node 2"));
    });
}

#[test]
fn memory_in_a_window_is_its_nodes() {
    let ram = [gib(0, 4), gib(16, 17)];
    let (table, cedt) = (two_nodes(), windows(&[gib(16, 32)]));
    let machine = Machine { cedt: Some(&cedt), ..Machine::new(&ram, &table) };
    machine.map(|map, _| {
        assert_eq!(map.online().to_string(), "0-2");
        assert_eq!(map.node_of(PhysAddr(16 * GIB).pfn()), Some(NodeId(2)));
        assert_eq!(map.node_of_address(PhysAddr(17 * GIB)), None);
    });
    // Without the window that memory is in no range, and too much for the table to stand.
    Machine::new(&ram, &table).map(|map, _| assert_eq!(map.source(), Source::None));
}

#[test]
fn a_window_knows_no_distance_and_a_slit_no_window() {
    let mut rows = vec![99; 49];
    (0..7).for_each(|at| rows[at * 8] = 10);
    let (table, slit) = (two_nodes(), slit(7, &rows));
    let cedt = windows(&[gib(16, 32)]);
    let machine = Machine { cedt: Some(&cedt), slit: Some(&slit), ..Machine::new(&RAM, &table) };
    machine.map(|map, seen| {
        let distance = |from, to| map.distance(NodeId(from), NodeId(to));
        // Domain 6 has a row, but Linux reads the SLIT before there is a domain 6.
        assert_eq!([distance(0, 1), distance(0, 2), distance(2, 2)], [99, 20, 10]);
        let rows = seen.names().iter().filter(|&&name| name == "slit-row-without-domain").count();
        assert_eq!(rows, 5);
        assert!(!seen.names().contains(&"slit-smaller-than-pxm"));
    });
}

#[test]
fn without_an_srat_that_stands_windows_mean_nothing() {
    let cedt = windows(&[gib(16, 32)]);
    let overlap = srat(3, &[memory(0, gib(0, 3)), memory(1, gib(2, 4))]);
    let good = two_nodes();
    let base = Machine { cedt: Some(&cedt), ..Machine::new(&RAM, &good) };
    for machine in [
        Machine { srat: None, ..base },
        Machine { srat: Some(&overlap), ..base },
        Machine { numa: NumaOption::Off, ..base },
        Machine { numa: NumaOption::NoAcpi, ..base },
    ] {
        machine.map(|map, _| assert_eq!(map.possible().to_string(), "0"));
    }
}

#[test]
fn a_window_without_addresses_has_a_node_and_no_range() {
    with(&cedt(&[(16 * GIB, 0), (u64::MAX - 4095, 8192)]), |map, seen| {
        assert_eq!(domains(map), [0, 5, 6, 7]);
        assert_eq!(seen.names()[..2], ["cedt-bad-window"; 2]);
    });
    // Linux looks for the base first.
    with(&cedt(&[(GIB, 0)]), |map, _| assert_eq!(domains(map), [0, 5]));
}

#[test]
fn there_is_no_domain_behind_the_last_one_and_no_node_beyond_the_limit() {
    let table = srat(3, &[memory(u32::MAX, gib(0, 4))]);
    let cedt = windows(&[gib(16, 32)]);
    let machine = Machine { cedt: Some(&cedt), ..Machine::new(&RAM, &table) };
    assert!(machine.names().contains(&"cedt-too-many-windows"));

    let many: Vec<_> = (0..1100).map(|at| gib(100 + at, 101 + at)).collect();
    with(&windows(&many), |map, seen| {
        assert_eq!(map.possible().len(), 1024);
        let left = seen.names().iter().filter(|&&name| name == "cedt-too-many-windows").count();
        assert_eq!(left, 1100 - 1022);
    });
}

#[test]
fn damage_in_the_table_keeps_the_windows_before_it() {
    let mut bytes = windows(&[gib(16, 32), gib(32, 64)]);
    let second = 36 + 32 + 40;
    bytes[second + 2] = 3;
    with(&bytes, |map, seen| {
        assert_eq!(domains(map), [0, 5, 6]);
        assert!(seen.names().contains(&"cedt-bad-entry-length"));
    });
    let cut = &windows(&[gib(16, 32), gib(32, 64)])[..second + 9];
    with(cut, |map, seen| {
        assert_eq!(domains(map), [0, 5, 6]);
        assert!(seen.names().contains(&"cedt-truncated"));
        assert!(seen.names().contains(&"table-length"));
    });
}

#[test]
fn windows_do_not_disturb_the_order_in_which_ranges_merge() {
    let records = [memory(0, gib(0, 1)), memory(0, gib(1, 2)), memory(1, gib(2, 4))];
    let (table, cedt) = (srat(3, &records), windows(&[gib(16, 17), gib(17, 18), gib(18, 19)]));
    let ram = [gib(0, 4), gib(16, 19)];
    let machine = Machine { cedt: Some(&cedt), ..Machine::new(&ram, &table) };
    machine.map(|map, seen| {
        let nodes: Vec<_> = map.ranges().iter().map(|range| range.node.0).collect();
        assert_eq!((nodes, seen.merges.len()), (vec![0, 1, 2, 3, 4], 1));
    });
}
