//! The layouts of the records, and how they are read.

use super::{Body, CpuEntry, CpuState};
use crate::firmware::bytes::{u8_at, u32_at, u64_at};
use crate::firmware::walk::Cut;
use crate::ids::ApicId;

/// Type 0, processor local APIC (ACPI 6.5, table 5.21).
mod apic {
    pub const KIND: u8 = 0;
    pub const UID: usize = 2;
    pub const APIC_ID: usize = 3;
    pub const FLAGS: usize = 4;
    pub const LENGTH: usize = 8;
    const _: () = assert!(FLAGS + 4 == LENGTH);

    /// All CPUs at once.
    pub const BROADCAST: u8 = u8::MAX;
}

/// Type 5, local APIC address override (ACPI 6.5, table 5.27).
mod address {
    pub const KIND: u8 = 5;
    pub const ADDRESS: usize = 4;
    pub const LENGTH: usize = 12;
    const _: () = assert!(ADDRESS + 8 == LENGTH);
}

/// Type 9, processor local x2APIC (ACPI 6.5, table 5.34).
mod x2apic {
    pub const KIND: u8 = 9;
    pub const APIC_ID: usize = 4;
    pub const FLAGS: usize = 8;
    pub const UID: usize = 12;
    pub const LENGTH: usize = 16;
    const _: () = assert!(UID + 4 == LENGTH);

    /// All CPUs at once.
    pub const BROADCAST: u32 = u32::MAX;
}

/// Bits of a CPU's flags (ACPI 6.5, table 5.22).
const ENABLED: u32 = 1 << 0;
const ONLINE_CAPABLE: u32 = 1 << 1;

/// Decodes a record. `online_capable` says whether that flag counts.
pub fn decode(bytes: Cut<'_>, online_capable: bool) -> Body {
    let record = match bytes {
        Cut::Whole(record) => record,
        Cut::TooShort { kind, length } => return Body::BadLength { kind, length: length as u8 },
        Cut::Truncated { present } => return Body::Truncated { present },
    };
    let &[kind, length, ..] = record else {
        return Body::Truncated { present: record.len() as u32 };
    };
    // As in Linux a record may be longer than its type needs.
    let (least, decoded) = match kind {
        apic::KIND => (apic::LENGTH, apic_record(record, online_capable)),
        address::KIND => (address::LENGTH, address_record(record)),
        x2apic::KIND => (x2apic::LENGTH, x2apic_record(record, online_capable)),
        _ => (2, None),
    };
    if usize::from(length) < least {
        return Body::BadLength { kind, length };
    }
    decoded.unwrap_or(Body::Other { kind, length })
}

fn apic_record(record: &[u8], online_capable: bool) -> Option<Body> {
    let apic = u8_at(record, apic::APIC_ID)?;
    let state = state(u32_at(record, apic::FLAGS)?, online_capable);
    Some(Body::Cpu(CpuEntry {
        apic: ApicId(apic.into()),
        uid: u8_at(record, apic::UID)?.into(),
        state: if apic == apic::BROADCAST { CpuState::Nobody } else { state },
        x2apic: false,
    }))
}

fn address_record(record: &[u8]) -> Option<Body> {
    u64_at(record, address::ADDRESS).map(Body::LocalApicAddress)
}

fn x2apic_record(record: &[u8], online_capable: bool) -> Option<Body> {
    let apic = u32_at(record, x2apic::APIC_ID)?;
    let state = state(u32_at(record, x2apic::FLAGS)?, online_capable);
    Some(Body::Cpu(CpuEntry {
        apic: ApicId(apic),
        uid: u32_at(record, x2apic::UID)?,
        state: if apic == x2apic::BROADCAST { CpuState::Nobody } else { state },
        x2apic: true,
    }))
}

fn state(flags: u32, online_capable: bool) -> CpuState {
    match flags & (ENABLED | ONLINE_CAPABLE) {
        0 => CpuState::Disabled,
        ONLINE_CAPABLE if online_capable => CpuState::OnlineCapable,
        ONLINE_CAPABLE => CpuState::Disabled,
        _ => CpuState::Present,
    }
}
