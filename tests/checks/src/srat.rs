//! The SRAT's decoder against a second reading of the same bytes.

use nearmem::firmware::srat::{
    Body, CpuAffinity, DeviceHandle, Entry, InitiatorAffinity, MemoryAffinity, Named, Srat,
};
use nearmem::{ApicId, NodeId, ProximityDomain};

use crate::Collected;
use crate::bytes::{check_line, long, word};

/// Where the records begin (ACPI 6.5, table 5.47).
const RECORDS: usize = 48;

/// Takes a whole table, header included.
pub fn check(bytes: &[u8]) {
    let mut found = Collected::default();
    let srat = Srat::parse(bytes, &mut found);
    found.check(1, &[("SRAT", bytes.len())]);
    let Some(srat) = srat else { return };
    assert!(srat.header().line(u64::MAX).to_string().starts_with("ACPI: SRAT"));

    let length = bytes.len().min(srat.header().length as usize);
    let table = &bytes[..length];
    let mut at = RECORDS;
    for (number, entry) in srat.entries().enumerate() {
        // Nothing is skipped and nothing read twice: a record begins where the last one ended.
        assert_eq!((entry.offset as usize, entry.record as usize), (at, number));
        check_line(&entry.line(Some(NodeId(1))));
        assert!(at < length, "a record behind the end");
        match reading(&table[at..], srat.header().revision) {
            Some((body, size)) => {
                assert_eq!(entry.body, body);
                let known = match table[at] {
                    1 => 40,
                    2 => 24,
                    5 => 32,
                    _ => size,
                };
                let decoded = !matches!(body, Body::BadLength { .. } | Body::Other { .. });
                let surplus = if decoded { size.saturating_sub(known) } else { 0 };
                assert_eq!(usize::from(entry.surplus), surplus);
                at += size;
            }
            None => {
                assert!(is_end(&entry, &table[at..]), "{entry:?}");
                at = length;
            }
        }
    }
    assert!(at >= length, "the walk ended at {at} of {length}");
}

/// Whether a record that ends the walk had to end it.
fn is_end(entry: &Entry, rest: &[u8]) -> bool {
    match entry.body {
        Body::Truncated { present } => present as usize == rest.len(),
        Body::BadLength { kind, length } => rest[..2] == [kind, length] && length < 2,
        _ => false,
    }
}

/// The record at the front and its length, read in the plainest way; `None` when there is no way
/// on behind it.
fn reading(rest: &[u8], revision: u8) -> Option<(Body, usize)> {
    let (kind, length) = (*rest.first()?, *rest.get(1)?);
    let size = usize::from(length);
    let bad = match kind {
        0 => length != 16,
        1 => length < 40,
        2 => length < 24,
        _ => false,
    };
    if length < 2 {
        return None;
    }
    if bad && rest.len() > 2 {
        return Some((Body::BadLength { kind, length }, size));
    }
    if rest.len() < size || bad {
        return None;
    }
    let (word, long) = (|at| word(rest, at), |at| long(rest, at));
    let domain = |bits: u32| match revision {
        0 | 1 => (ProximityDomain(bits % 256), bits >= 256),
        _ => (ProximityDomain(bits), false),
    };
    let body = match kind {
        0 => {
            let (pxm, high_bits) = domain(u32::from(rest[2]) | word(8) & 0xffff_ff00);
            let apic = ApicId(u32::from(rest[3]));
            let enabled = word(4) & 1 == 1;
            Body::Cpu(CpuAffinity { pxm, apic, enabled, x2apic: false, high_bits })
        }
        1 => {
            let (pxm, high_bits) = domain(word(2));
            let flag = |bit: u32| word(28) >> bit & 1 == 1;
            Body::Memory(MemoryAffinity {
                pxm,
                base: long(8),
                length: long(16),
                enabled: flag(0),
                hotplug: flag(1),
                nonvolatile: flag(2),
                high_bits,
            })
        }
        2 => Body::Cpu(CpuAffinity {
            pxm: ProximityDomain(word(4)),
            apic: ApicId(word(8)),
            enabled: word(12) & 1 == 1,
            x2apic: true,
            high_bits: false,
        }),
        5 if size >= 28 => Body::Initiator(InitiatorAffinity {
            pxm: ProximityDomain(word(4)),
            handle: handle(rest),
            enabled: word(24) & 1 == 1,
            architectural: word(24) & 2 == 2,
        }),
        _ => Body::Other { kind, length, named: named(&rest[..size]) },
    };
    Some((body, size))
}

/// Of other architectures, and a generic port.
fn named(record: &[u8]) -> Option<Named> {
    let pxm = |at| ProximityDomain(word(record, at));
    let flag = |at| word(record, at) & 1 == 1;
    Some(match (record[0], record.len()) {
        (3, 14..) => Named::Gicc { pxm: pxm(2), uid: word(record, 6), enabled: flag(10) },
        (4, 12..) => Named::Its { pxm: pxm(2), id: word(record, 8) },
        (6, 28..) => Named::Port { pxm: pxm(4), handle: handle(record), enabled: flag(24) },
        (7, 16..) => Named::Rintc { pxm: pxm(4), uid: word(record, 8), enabled: flag(12) },
        _ => return None,
    })
}

fn handle(record: &[u8]) -> DeviceHandle {
    match record[3] {
        0 => DeviceHandle::Acpi { hid: record[8..16].try_into().unwrap(), uid: word(record, 16) },
        1 => DeviceHandle::Pci {
            segment: word(record, 8) as u16,
            bus: record[10],
            device: record[11] / 8,
            function: record[11] % 8,
        },
        kind => DeviceHandle::Unknown { kind },
    }
}
