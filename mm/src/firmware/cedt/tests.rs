use super::*;
use crate::firmware::by_hand;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// A table of these records.
fn table(records: &[Vec<u8>]) -> Vec<u8> {
    by_hand::table(b"CEDT", 1, &records.concat())
}

/// A window whose host bridges are 7, 6, ...
fn window(base: u64, length: u64, ways: u8, targets: u32) -> Vec<u8> {
    let mut record = vec![0; 36];
    record[0] = 1;
    record[8..16].copy_from_slice(&base.to_le_bytes());
    record[16..24].copy_from_slice(&length.to_le_bytes());
    record[24] = ways;
    record[28] = 1;
    record[32..36].copy_from_slice(&[0x06, 0, 5, 1]);
    (0..targets).for_each(|at| record.extend((7 - at).to_le_bytes()));
    let length = record.len() as u16;
    record[2..4].copy_from_slice(&length.to_le_bytes());
    record
}

fn bridge() -> Vec<u8> {
    let mut record = vec![0; 32];
    record[..8].copy_from_slice(&[0, 0, 32, 0, 7, 0, 0, 0]);
    record[8] = 1;
    record[16..24].copy_from_slice(&0x103_7040_0000_u64.to_le_bytes());
    record[24..32].copy_from_slice(&0x10000_u64.to_le_bytes());
    record
}

fn bodies(bytes: &[u8]) -> Vec<Body<'_>> {
    Cedt::parse(bytes, &mut |_| ()).unwrap().entries().map(|entry| entry.body).collect()
}

fn lines(records: &[Vec<u8>]) -> Vec<String> {
    let bytes = table(records);
    let cedt = Cedt::parse(&bytes, &mut |_| ()).unwrap();
    cedt.entries().map(|entry| entry.to_string()).collect()
}

#[test]
fn every_field_is_read_from_its_own_bytes() {
    let bytes = table(&[bridge(), window(0x10_0000_0000, 0x4_0000_0000, 1, 2)]);
    let [Body::HostBridge(bridge), Body::Window(window)] = bodies(&bytes)[..] else { panic!() };
    let read = HostBridge { uid: 7, version: 1, base: 0x103_7040_0000, length: 0x10000 };
    assert_eq!(bridge, read);
    let range = PhysRange::new(0x10_0000_0000, 0x14_0000_0000);
    assert_eq!(
        (window.base, window.length, window.range()),
        (range.start.0, range.len(), Some(range))
    );
    assert_eq!((window.ways, window.granularity), (Some(2), Some(512)));
    assert_eq!(window.restrictions, Window::TYPE_3 | Window::VOLATILE);
    assert_eq!(window.qos_class, 0x105);
    assert_eq!(window.targets().collect::<Vec<_>>(), [7, 6]);
}

#[test]
fn records_have_lines() {
    let other = vec![2, 0, 8, 0, 9, 9, 9, 9];
    let records = [bridge(), window(1 << 36, 1 << 30, 1, 2), window(1 << 37, 1 << 30, 0, 1), other];
    assert_eq!(
        lines(&records),
        [
            "CEDT: CXL host bridge 7, registers [mem 0x10370400000-0x1037040ffff]",
            "CEDT: CXL window [mem 0x1000000000-0x103fffffff], 2 ways of 512 bytes, host bridges 7, 6",
            "CEDT: CXL window [mem 0x2000000000-0x203fffffff], not interleaved, host bridges 7",
            "CEDT: type 2, length 8",
        ]
    );
    assert_eq!(
        lines(&[window(0, 1 << 30, 5, 1)]),
        ["CEDT: CXL window [mem 0x00000000-0x3fffffff], interleaved in an unknown way"]
    );
}

#[test]
fn a_window_has_as_many_targets_as_ways_and_are_there() {
    for (ways, targets, read) in [(0, 3, 1), (1, 1, 1), (8, 4, 3), (4, 2, 2), (7, 2, 0)] {
        let bytes = table(&[window(0, 1, ways, targets)]);
        let [Body::Window(window)] = bodies(&bytes)[..] else { panic!() };
        assert_eq!(window.targets().count(), read, "{ways} and {targets}");
    }
}

#[test]
fn a_window_without_addresses_has_no_range() {
    let range = |base, length| {
        let bytes = table(&[window(base, length, 0, 1)]);
        let [Body::Window(window)] = bodies(&bytes)[..] else { panic!() };
        window.range()
    };
    assert_eq!(range(4096, 0), None);
    assert_eq!(range(u64::MAX - 4095, 4096), None);
    assert_eq!(range(u64::MAX - 4095, 4095), Some(PhysRange::new(u64::MAX - 4095, u64::MAX)));
}

#[test]
fn damage_ends_the_walk() {
    let good = window(0, 1, 0, 1);
    let mut short = bridge();
    short.truncate(31);
    short[2] = 31;
    let bytes = table(&[bridge(), short, good.clone()]);
    assert_eq!(bodies(&bytes)[1..], [Body::BadLength { kind: 0, length: 31 }]);
    for length in 0..4 {
        let bytes = table(&[bridge(), vec![1, 0, length, 0, 0, 0, 0, 0], good.clone()]);
        let bad = Body::BadLength { kind: 1, length: length.into() };
        assert_eq!(bodies(&bytes)[1..], [bad]);
    }
    for present in 1..good.len() {
        let bytes = table(&[bridge(), good[..present].to_vec()]);
        assert_eq!(bodies(&bytes)[1..], [Body::Truncated { present: present as u32 }]);
    }
}
