//! The MADT's decoder, and the list of present CPUs, against a plain reading.

use std::collections::BTreeSet;

use nearmem::ApicId;
use nearmem::firmware::madt::{Body, CpuEntry, CpuState, IdLinks, Madt, present};

use crate::Collected;
use crate::bytes::{check_contiguous, check_line, long, word};

/// Where the records begin (ACPI 6.5, table 5.19).
const RECORDS: usize = 44;

/// Takes a whole table, header included. Its last byte says how much room there is for CPUs, and
/// the one before it which is the boot CPU.
pub fn check(bytes: &[u8]) {
    let mut found = Collected::default();
    let madt = Madt::parse(bytes, &mut found);
    found.check(1, &[("APIC", bytes.len())]);
    let Some(madt) = madt else { return };
    let table = &bytes[..bytes.len().min(madt.header().length as usize)];
    let revision = madt.header().revision;
    let records = madt.entries().map(|entry| {
        check_line(&entry);
        let rest = &table[entry.offset as usize..];
        let size = rest.get(1).map_or(0, |&length| usize::from(length));
        let body = reading(rest, revision);
        assert_eq!(entry.body, body);
        let last = matches!(body, Body::Truncated { .. } | Body::BadLength { .. });
        (entry.offset, entry.record, (!last).then_some(size))
    });
    check_contiguous(records, RECORDS, table.len());
    madt.has_8259();
    let address = (table.len() >= RECORDS).then(|| u64::from(word(table, 36)));
    let overrides = madt.entries().any(|entry| matches!(entry.body, Body::LocalApicAddress(_)));
    assert!(overrides || table.len() < RECORDS || madt.local_apic_address() == address);

    let [.., boot, room] = *bytes else { return };
    let boot = (boot & 1 == 0).then(|| ApicId(u32::from(boot / 2)));
    check_present(&madt, boot, usize::from(room));
}

fn reading(rest: &[u8], revision: u8) -> Body {
    let present = rest.len() as u32;
    let &[kind, length, ..] = rest else { return Body::Truncated { present } };
    let least = match kind {
        0 => 8,
        5 => 12,
        9 => 16,
        _ => 2,
    };
    if length >= 2 && rest.len() < usize::from(length) {
        return Body::Truncated { present };
    }
    if length < least {
        return Body::BadLength { kind, length };
    }
    let cpu = |apic: u32, nobody: u32, uid: u32, flags: u32| {
        let state = match (flags & 1, flags & 2) {
            _ if apic == nobody => CpuState::Nobody,
            (1, _) => CpuState::Present,
            (0, 2) if revision >= 5 => CpuState::OnlineCapable,
            _ => CpuState::Disabled,
        };
        Body::Cpu(CpuEntry { apic: ApicId(apic), uid, state, x2apic: kind == 9 })
    };
    match kind {
        0 => cpu(u32::from(rest[3]), 255, u32::from(rest[2]), word(rest, 4)),
        5 => Body::LocalApicAddress(long(rest, 4)),
        9 => cpu(word(rest, 4), u32::MAX, word(rest, 12), word(rest, 8)),
        _ => Body::Other { kind, length },
    }
}

fn check_present(madt: &Madt<'_>, boot: Option<ApicId>, room: usize) {
    let mut found = Collected::default();
    // What the room has in it beforehand does not matter.
    let (mut ids, mut links) = (vec![ApicId(3); room], vec![IdLinks::NONE; room]);
    present(Some(madt), None, &mut ids, &mut links, &mut |_| ());
    let counts = present(Some(madt), boot, &mut ids, &mut links, &mut found);
    found.check(madt.entries().count() + 2, &[]);

    let mut seen = BTreeSet::new();
    let listed = madt.entries().filter_map(|entry| match entry.body {
        Body::Cpu(cpu) if cpu.state == CpuState::Present => Some(cpu.apic),
        _ => None,
    });
    let mut expected: Vec<_> = boot.into_iter().chain(listed).collect();
    expected.retain(|&apic| seen.insert(apic));
    assert_eq!(found.has("cpu-too-many"), expected.len() > room);
    expected.truncate(room);
    assert_eq!(ids[..counts.present], expected);
}
