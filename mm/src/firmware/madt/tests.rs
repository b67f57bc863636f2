use super::*;
use crate::finding::Finding;
use crate::firmware::by_hand;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// A table of these records.
fn table(revision: u8, records: &[Vec<u8>]) -> Vec<u8> {
    let fixed = [0xfee0_0000_u32, PCAT_COMPAT].map(u32::to_le_bytes);
    by_hand::table(b"APIC", revision, &[fixed.as_flattened(), &records.concat()].concat())
}

fn apic(uid: u8, id: u8, flags: u8) -> Vec<u8> {
    vec![0, 8, uid, id, flags, 0, 0, 0]
}

fn x2apic(uid: u32, id: u32, flags: u8) -> Vec<u8> {
    let words = [id.to_le_bytes(), [flags, 0, 0, 0], uid.to_le_bytes()];
    [&[9, 16, 0, 0][..], words.as_flattened()].concat()
}

fn madt(bytes: &[u8]) -> Madt<'_> {
    Madt::parse(bytes, &mut |_| ()).unwrap()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    madt(bytes).entries().map(|entry| entry.to_string()).collect()
}

/// The list, the counts and the names of the findings, with room for `room` CPUs.
fn listed(
    bytes: Option<&[u8]>,
    boot: Option<u32>,
    room: usize,
) -> (Vec<u32>, CpuCounts, Vec<&'static str>) {
    let mut names = Vec::new();
    let mut sink = |finding: Finding| names.push(finding.kind.name());
    let mut ids = vec![ApicId(2); room];
    let mut links = vec![IdLinks::NONE; room];
    let madt = bytes.map(madt);
    // What the room holds beforehand does not matter.
    present(madt.as_ref(), Some(ApicId(77)), &mut ids, &mut links, &mut |_| ());
    let counts = present(madt.as_ref(), boot.map(ApicId), &mut ids, &mut links, &mut sink);
    (ids[..counts.present].iter().map(|id| id.0).collect(), counts, names)
}

#[test]
fn every_field_is_read_from_its_own_bytes() {
    let io_apic = [&[1, 12][..], &[0xff; 10]].concat();
    let address = [&[5, 12, 0, 0][..], &0x1_fee0_0000_u64.to_le_bytes()].concat();
    let records = [apic(3, 7, 1), x2apic(0x0403_0201, 0x1122_3344, 1), io_apic, address];
    let bytes = table(3, &records);
    let bodies: Vec<_> = madt(&bytes).entries().map(|entry| entry.body).collect();
    let cpu = |uid, id, x2apic| {
        Body::Cpu(CpuEntry { apic: ApicId(id), uid, state: CpuState::Present, x2apic })
    };
    assert_eq!(
        bodies,
        [
            cpu(3, 7, false),
            cpu(0x0403_0201, 0x1122_3344, true),
            Body::Other { kind: 1, length: 12 },
            Body::LocalApicAddress(0x1_fee0_0000),
        ]
    );
    let places: Vec<_> = madt(&bytes).entries().map(|entry| (entry.record, entry.offset)).collect();
    assert_eq!(places, [(0, 44), (1, 52), (2, 68), (3, 80)]);
    assert_eq!(madt(&bytes).local_apic_address(), Some(0x1_fee0_0000));
    assert!(madt(&bytes).has_8259());
}

#[test]
fn the_header_has_the_address_without_a_record() {
    let bytes = table(3, &[]);
    assert_eq!(madt(&bytes).local_apic_address(), Some(0xfee0_0000));
    let mut cut = bytes[..36].to_vec();
    cut[4] = 36;
    assert_eq!(madt(&cut).local_apic_address(), None);
    assert!(!madt(&cut).has_8259());
    assert_eq!(madt(&cut).entries().count(), 0);
}

#[test]
fn the_flag_of_cpus_to_come_counts_from_revision_5_on() {
    let records = [apic(0, 0, 1), apic(1, 1, 2), x2apic(2, 2, 3), apic(3, 3, 0), apic(4, 255, 1)];
    let new = lines(&table(5, &records));
    assert_eq!(
        new,
        [
            "MADT: CPU 0 -> APIC 0x00 enabled",
            "MADT: CPU 1 -> APIC 0x01 online capable",
            "MADT: CPU 2 -> APIC 0x0002 enabled",
            "MADT: CPU 3 -> APIC 0x03 disabled",
            "MADT: CPU 4 -> APIC 0xff no CPU",
        ]
    );
    let old = lines(&table(4, &records));
    assert_eq!(old[1], "MADT: CPU 1 -> APIC 0x01 disabled");
    let (ids, counts, names) = listed(Some(&table(5, &records)), Some(0), 8);
    assert_eq!(ids, [0, 2]);
    assert_eq!(counts.to_string(), "2 enabled, 1 online capable, 1 disabled");
    assert!(names.is_empty());
}

#[test]
fn a_record_may_be_longer_than_its_type_needs_and_not_shorter() {
    let mut long = apic(0, 4, 1);
    long[1] = 10;
    long.extend([0; 2]);
    assert_eq!(listed(Some(&table(3, &[long, apic(1, 5, 1)])), None, 8).0, [4, 5]);
    for (kind, length) in [(0, 7), (9, 15), (5, 11), (77, 0), (77, 1)] {
        let mut bad = vec![0; usize::from(length).max(2)];
        bad[..2].copy_from_slice(&[kind, length]);
        let (ids, _, names) =
            listed(Some(&table(3, &[apic(0, 4, 1), bad, apic(1, 5, 1)])), None, 8);
        assert_eq!((ids, names), (vec![4], vec!["madt-bad-entry-length"]), "type {kind}");
    }
}

#[test]
fn a_record_beyond_the_end_is_not_read() {
    let last = x2apic(1, 5, 1);
    for present in 1..last.len() {
        let bytes = table(3, &[apic(0, 4, 1), last[..present].to_vec()]);
        let (ids, _, names) = listed(Some(&bytes), None, 8);
        assert_eq!((ids, names), (vec![4], vec!["madt-truncated"]), "{present} bytes");
    }
}

#[test]
fn the_boot_cpu_is_the_first_and_each_id_counts_once() {
    let records = [apic(0, 3, 1), apic(1, 1, 1), x2apic(2, 1, 1), apic(3, 0, 0), x2apic(4, 300, 1)];
    let bytes = table(3, &records);
    assert_eq!(listed(Some(&bytes), Some(1), 8).0, [1, 3, 300]);
    assert_eq!(listed(Some(&bytes), Some(1), 8).2, ["madt-cpu-listed-twice"]);
    assert_eq!(listed(Some(&bytes), None, 8).0, [3, 1, 300]);
    let (ids, _, names) = listed(Some(&bytes), Some(9), 8);
    assert_eq!(ids, [9, 3, 1, 300]);
    assert_eq!(names, ["madt-cpu-listed-twice", "madt-without-boot-cpu"]);
    let (ids, _, names) = listed(None, Some(9), 8);
    assert_eq!((ids, names), (vec![9], vec!["madt-absent"]));
}

#[test]
fn cpus_beyond_the_room_are_counted() {
    let records: Vec<_> = (0..10).map(|id| x2apic(id, id * 7, 1)).collect();
    let bytes = table(3, &records);
    let mut text = Vec::new();
    let mut sink = |finding: Finding| text.push(finding.to_string());
    let (mut ids, mut links) = ([ApicId(0); 4], [IdLinks::NONE; 4]);
    let counts = present(Some(&madt(&bytes)), Some(ApicId(7)), &mut ids, &mut links, &mut sink);
    assert_eq!((counts.present, ids.map(|id| id.0)), (4, [7, 0, 14, 21]));
    assert_eq!(text.len(), 1);
    assert!(text[0].starts_with("10 CPUs are present and there is room for 4"), "{}", text[0]);
    assert_eq!(listed(Some(&bytes), Some(7), 0).0, []);
}

#[test]
fn ids_that_share_all_bits_but_the_last_are_told_apart() {
    let ids = [0, 1, u32::MAX - 1, 1 << 31, (1 << 31) + 1, 2, 3, u32::MAX - 2];
    let records: Vec<_> = ids.iter().chain(&ids).map(|&id| x2apic(0, id, 1)).collect();
    let (found, _, names) = listed(Some(&table(3, &records)), None, 16);
    assert_eq!(found, ids);
    assert_eq!(names, ["madt-cpu-listed-twice"; 8]);
}
