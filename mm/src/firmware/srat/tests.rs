use super::*;
use crate::firmware::by_hand;
use crate::ids::NodeId;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// An SRAT that QEMU 7.2 made: 4 CPUs and 256 MiB on two nodes.
const QEMU: &str = "\
    5352415410010000011b424f4348532042585043202020200100000042585043010000000100000000000000\
    00000000001000000100000000000000000000000010000101000000000000000000000000100102010000000000\
    00000000000000100103010000000000000000000000012800000000000000000000000000000000\
    0a0000000000000000000100000000000000000000000128000000000000000010000000000000\
    00f00f0000000000000000010000000000000000000000012801000000000000000010000000000000\
    00100000000000000000010000000000000000000000012800000000000000000000000000000000\
    000000000000000000000000000000000000000000000000";

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// A table of these records.
fn table(revision: u8, records: &[&[u8]]) -> Vec<u8> {
    by_hand::table(
        b"SRAT",
        revision,
        &[&[0; RECORDS - Header::LENGTH], &records.concat()[..]].concat(),
    )
}

fn entries(bytes: &[u8]) -> Vec<Entry> {
    Srat::parse(bytes, &mut |_| ()).unwrap().entries().collect()
}

fn bodies(revision: u8, records: &[&[u8]]) -> Vec<Body> {
    entries(&table(revision, records)).iter().map(|entry| entry.body).collect()
}

#[test]
fn real_bytes_give_the_records_and_the_lines_of_linux_log() {
    let bytes = from_hex(QEMU);
    let mut found = 0;
    let srat = Srat::parse(&bytes, &mut |_| found += 1).unwrap();
    assert_eq!((found, srat.header().revision), (0, 1));
    let node = |entry: &Entry| entry.pxm().map(|pxm| NodeId(pxm.0 as u16));
    let enabled = srat.entries().filter(Entry::is_enabled);
    let lines: Vec<String> = enabled.map(|entry| entry.line(node(&entry)).to_string()).collect();
    assert_eq!(
        lines,
        [
            "SRAT: PXM 0 -> APIC 0x00 -> Node 0",
            "SRAT: PXM 0 -> APIC 0x01 -> Node 0",
            "SRAT: PXM 1 -> APIC 0x02 -> Node 1",
            "SRAT: PXM 1 -> APIC 0x03 -> Node 1",
            "ACPI: SRAT: Node 0 PXM 0 [mem 0x00000000-0x0009ffff]",
            "ACPI: SRAT: Node 0 PXM 0 [mem 0x00100000-0x0fffffff]",
            "ACPI: SRAT: Node 1 PXM 1 [mem 0x10000000-0x1fffffff]",
        ]
    );
    let places: Vec<_> = srat.entries().map(|entry| (entry.record, entry.offset)).collect();
    assert_eq!(places[3..6], [(3, 0x60), (4, 0x70), (5, 0x98)]);
    assert_eq!(places.len(), 8);
}

#[test]
fn every_field_is_read_from_its_own_bytes() {
    let mut memory = [0; 40];
    memory[..8].copy_from_slice(&[1, 40, 1, 2, 3, 4, 0xff, 0xff]);
    memory[8..16].copy_from_slice(&0x1122_3344_5566_7788u64.to_le_bytes());
    memory[16..24].copy_from_slice(&0x0a0b_0c0d_0e0f_0102u64.to_le_bytes());
    memory[28] = 0b111;
    let x2apic = [2, 24, 0, 0, 5, 6, 7, 8, 0x44, 0x33, 0x22, 0x11, 1, 0, 0, 0];
    let x2apic = [&x2apic[..], &[0; 8]].concat();
    let apic = [0, 16, 1, 9, 1, 0, 0, 0, 0xee, 2, 3, 4, 0, 0, 0, 0];
    let mut initiator = [0; 32];
    initiator[..8].copy_from_slice(&[5, 32, 0, 1, 9, 8, 7, 6]);
    initiator[8..12].copy_from_slice(&[0x34, 0x12, 0xc1, 3 << 3 | 5]);
    initiator[24] = 0b11;
    let read = bodies(2, &[&memory, &x2apic, &apic, &initiator]);
    assert_eq!(
        read,
        [
            Body::Memory(MemoryAffinity {
                pxm: ProximityDomain(0x0403_0201),
                base: 0x1122_3344_5566_7788,
                length: 0x0a0b_0c0d_0e0f_0102,
                enabled: true,
                hotplug: true,
                nonvolatile: true,
                high_bits: false,
            }),
            Body::Cpu(CpuAffinity {
                pxm: ProximityDomain(0x0807_0605),
                apic: ApicId(0x1122_3344),
                enabled: true,
                x2apic: true,
                high_bits: false,
            }),
            Body::Cpu(CpuAffinity {
                pxm: ProximityDomain(0x0403_0201),
                apic: ApicId(9),
                enabled: true,
                x2apic: false,
                high_bits: false,
            }),
            Body::Initiator(InitiatorAffinity {
                pxm: ProximityDomain(0x0607_0809),
                handle: DeviceHandle::Pci { segment: 0x1234, bus: 0xc1, device: 3, function: 5 },
                enabled: true,
                architectural: true,
            }),
        ]
    );
}

#[test]
fn revision_1_has_domains_of_8_bits_in_types_0_and_1_only() {
    let apic = [0, 16, 1, 9, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0];
    let x2apic = [&[2, 24, 0, 0, 1, 2, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0][..], &[0; 8]].concat();
    let mut memory = [0; 40];
    memory[..4].copy_from_slice(&[1, 40, 1, 2]);
    let read = |revision| -> Vec<(u32, bool)> {
        let high_bits = |body: &Body| match body {
            Body::Cpu(cpu) => cpu.high_bits,
            Body::Memory(memory) => memory.high_bits,
            _ => unreachable!("{body:?}"),
        };
        let entries = entries(&table(revision, &[&apic, &x2apic, &memory]));
        entries.iter().map(|entry| (entry.pxm().unwrap().0, high_bits(&entry.body))).collect()
    };
    for revision in [0, 1] {
        assert_eq!(read(revision), [(1, true), (0x201, false), (1, true)]);
    }
    assert_eq!(read(2), [(0x201, false), (0x201, false), (0x201, false)]);
}

#[test]
fn lengths_that_a_type_cannot_have_are_named_and_stepped_over() {
    let (other, good) = ([77, 3, 0], Body::Other { kind: 77, length: 3, named: None });
    for (kind, length) in [(0, 15), (0, 17), (1, 39), (2, 23)] {
        let mut bad = vec![0; usize::from(length)];
        bad[..2].copy_from_slice(&[kind, length]);
        assert_eq!(bodies(1, &[&bad, &other]), [Body::BadLength { kind, length }, good]);
    }
    // Longer than the type needs is fine, but for type 0.
    for (kind, length) in [(1, 41), (2, 25)] {
        let mut long = vec![0; usize::from(length)];
        long[..2].copy_from_slice(&[kind, length]);
        assert!(!matches!(bodies(1, &[&long, &other])[0], Body::BadLength { .. }));
        let surplus: Vec<_> =
            entries(&table(1, &[&long, &other])).iter().map(|e| e.surplus).collect();
        assert_eq!(surplus, [1, 0]);
    }
}

#[test]
fn a_length_below_2_ends_the_walk() {
    for length in [0, 1] {
        let bad = [77, length, 0, 0, 77, 2];
        assert_eq!(bodies(1, &[&[77, 3, 0], &bad])[1..], [Body::BadLength { kind: 77, length }]);
    }
}

#[test]
fn a_record_beyond_the_end_is_not_read() {
    let apic = [0, 16, 1, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for present in 1..16 {
        let present_u32 = present as u32;
        assert_eq!(
            bodies(1, &[&apic, &apic[..present]])[1..],
            [Body::Truncated { present: present_u32 }],
            "{present} bytes"
        );
    }
    // Linux does not look at the last two bytes; a length of 0 there refuses nothing.
    assert_eq!(bodies(1, &[&apic, &[0, 0]])[1..], [Body::Truncated { present: 2 }]);
    assert_eq!(bodies(1, &[&[77, 2]]), [Body::Other { kind: 77, length: 2, named: None }]);
    assert_eq!(bodies(1, &[]), []);
}

#[test]
fn bytes_behind_the_length_of_the_header_are_no_records() {
    let mut bytes = table(1, &[&[77, 3, 0]]);
    bytes.extend([78, 3, 0]);
    assert_eq!(entries(&bytes).len(), 1);
    // Nor is there a record in a table that ends with its header.
    bytes[4] = 36;
    assert_eq!(entries(&bytes).len(), 0);
}

#[test]
fn an_initiator_that_ends_before_its_flags_is_another_record() {
    let read = bodies(3, &[&[5, 8, 0, 0, 1, 0, 0, 0]]);
    assert_eq!(read, [Body::Other { kind: INITIATOR, length: 8, named: None }]);
}

#[test]
fn odd_records_have_lines_too() {
    let line = |body, node: Option<u16>| {
        Entry { offset: 0, record: 0, surplus: 0, body }.line(node.map(NodeId)).to_string()
    };
    let memory = MemoryAffinity {
        pxm: ProximityDomain(7),
        base: 0x1_0000_0000,
        length: 0,
        enabled: true,
        hotplug: true,
        nonvolatile: true,
        high_bits: false,
    };
    assert_eq!(
        line(Body::Memory(memory), Some(2)),
        "ACPI: SRAT: Node 2 PXM 7 [mem 0x100000000 length 0] hotplug non-volatile"
    );
    let (pxm, apic) = (ProximityDomain(3), ApicId(0x10));
    let cpu = CpuAffinity { pxm, apic, enabled: true, x2apic: true, high_bits: false };
    assert_eq!(line(Body::Cpu(cpu), None), "SRAT: PXM 3 -> APIC 0x0010 -> Node -");
}

/// Types 3, 4, 6 and 7 with every field filled in; the port's handle is an ACPI one.
fn other_types() -> [Vec<u8>; 4] {
    let gicc = [&[3, 18, 1, 2, 3, 4, 5, 0, 0, 0, 1][..], &[0; 7]].concat();
    let its = [4, 12, 9, 0, 0, 0, 0, 0, 7, 1, 0, 0].to_vec();
    let port = [&[6, 32, 0, 0, 2, 0, 0, 0][..], b"ACPI0016", &[3, 0, 0, 0], &[0; 12]].concat();
    let rintc = [&[7, 20, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0][..], &[0; 4]].concat();
    [gicc, its, port, rintc]
}

#[test]
fn types_that_make_no_node_are_read_nevertheless() {
    let records = other_types();
    let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let lines: Vec<String> =
        entries(&table(3, &records)).iter().map(|entry| entry.line(None).to_string()).collect();
    assert_eq!(
        lines,
        [
            "SRAT: PXM 67305985 -> GICC of CPU 5",
            "SRAT: PXM 9 -> GIC ITS 263",
            "SRAT: PXM 2 -> generic port ACPI0016:3 (disabled)",
            "SRAT: PXM 8 -> RINTC of CPU 6",
        ]
    );
    for (entry, kind) in entries(&table(3, &records)).iter().zip([3, 4, 6, 7]) {
        assert!(matches!(entry.body, Body::Other { kind: read, .. } if read == kind));
        assert!(!entry.is_enabled() && entry.pxm().is_some());
    }
}

#[test]
fn known_types_that_end_too_early_say_nothing() {
    for whole in other_types() {
        // Up to the last field that is read.
        let least = match whole[0] {
            3 => 14,
            4 => 12,
            6 => 28,
            _ => 16,
        };
        for length in 2..=whole.len() {
            let mut cut = whole[..length].to_vec();
            cut[1] = length as u8;
            let Body::Other { named, .. } = bodies(3, &[&cut])[0] else { panic!() };
            assert_eq!(named.is_some(), length >= least, "type {}, length {length}", whole[0]);
        }
    }
}

#[test]
fn devices_have_names() {
    let handle = |kind, bytes: &[u8]| {
        let mut record = [0; 32];
        record[..4].copy_from_slice(&[5, 32, 0, kind]);
        record[8..8 + bytes.len()].copy_from_slice(bytes);
        DeviceHandle::of(&record).unwrap().to_string()
    };
    assert_eq!(handle(0, b"ACPI0016\x02\x01\0\0"), "ACPI0016:258");
    assert_eq!(handle(0, b"PNP0A08\0\x01"), "PNP0A08:1");
    assert_eq!(handle(0, b"\xff\n\0"), "\\xff\\n:0");
    assert_eq!(handle(1, &[0, 0, 0x41, 0x08]), "PCI 0000:41:01.0");
    assert_eq!(handle(2, &[1]), "device of kind 2");
}
