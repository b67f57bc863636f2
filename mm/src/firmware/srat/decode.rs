//! The layouts of the records, and how they are read.

use super::{Body, CpuAffinity, DeviceHandle, InitiatorAffinity, MemoryAffinity, Named};
use crate::firmware::bytes::{u8_at, u32_at, u64_at};
use crate::ids::{ApicId, ProximityDomain};

/// Type 0, processor local APIC affinity (ACPI 6.5, table 5.48).
mod apic {
    pub const KIND: u8 = 0;
    pub const PXM_LOW: usize = 2;
    pub const APIC_ID: usize = 3;
    pub const FLAGS: usize = 4;
    pub const PXM_HIGH: usize = 9;
    const CLOCK_DOMAIN: usize = 12;
    pub const LENGTH: usize = 16;
    const _: () = assert!(PXM_HIGH + 3 == CLOCK_DOMAIN && CLOCK_DOMAIN + 4 == LENGTH);
}

/// Type 1, memory affinity (ACPI 6.5, table 5.49).
mod memory {
    pub const KIND: u8 = 1;
    pub const PXM: usize = 2;
    pub const BASE: usize = 8;
    pub const RANGE_LENGTH: usize = 16;
    pub const FLAGS: usize = 28;
    const RESERVED: usize = 32;
    pub const LENGTH: usize = 40;
    const _: () = assert!(FLAGS + 4 == RESERVED && RESERVED + 8 == LENGTH);

    pub const HOTPLUG: u32 = 1 << 1;
    pub const NONVOLATILE: u32 = 1 << 2;
}

/// Type 2, processor local x2APIC affinity (ACPI 6.5, table 5.50).
mod x2apic {
    pub const KIND: u8 = 2;
    pub const PXM: usize = 4;
    pub const APIC_ID: usize = 8;
    pub const FLAGS: usize = 12;
    const CLOCK_DOMAIN: usize = 16;
    pub const LENGTH: usize = 24;
    const _: () = assert!(CLOCK_DOMAIN + 4 + 4 == LENGTH);
}

/// Types 5 and 6, generic initiator and generic port affinity (ACPI 6.5, tables 5.53 and 5.57).
pub mod device {
    pub const INITIATOR: u8 = super::super::INITIATOR;
    pub const HANDLE_KIND: usize = 3;
    pub const PXM: usize = 4;
    pub const HANDLE: usize = 8;
    pub const FLAGS: usize = 24;
    const _: () = assert!(HANDLE + 16 == FLAGS);

    pub const LENGTH: usize = 32;
    const _: () = assert!(FLAGS + 4 + 4 == LENGTH);

    pub const ARCHITECTURAL: u32 = 1 << 1;
}

/// Bit 0 of the flags of every type.
pub const ENABLED: u32 = 1 << 0;

/// Decodes the record that `rest` begins with. `rest` is not empty.
pub fn decode(rest: &[u8], wide: bool) -> Body {
    let truncated = Body::Truncated { present: rest.len() as u32 };
    let &[kind, length, ref body @ ..] = rest else { return truncated };
    let enough = match kind {
        apic::KIND => usize::from(length) == apic::LENGTH,
        memory::KIND => usize::from(length) >= memory::LENGTH,
        x2apic::KIND => usize::from(length) >= x2apic::LENGTH,
        _ => length >= 2,
    };
    // Linux does not look at a record of which only type and length are there.
    if body.is_empty() && !(enough && length == 2) {
        return truncated;
    }
    if !enough {
        return Body::BadLength { kind, length };
    }
    let Some(record) = rest.get(..usize::from(length)) else { return truncated };
    let decoded = match kind {
        apic::KIND => apic_record(record, wide),
        memory::KIND => memory_record(record, wide),
        x2apic::KIND => x2apic_record(record),
        device::INITIATOR => initiator_record(record),
        _ => None,
    };
    decoded.unwrap_or_else(|| Body::Other { kind, length, named: Named::of(record) })
}

/// How long a record of this sort is known to be; `length` for one of which that is not known.
pub fn known_length(body: &Body, length: u8) -> u8 {
    match body {
        Body::Cpu(cpu) if cpu.x2apic => x2apic::LENGTH as u8,
        Body::Memory(_) => memory::LENGTH as u8,
        Body::Initiator(_) => device::LENGTH as u8,
        _ => length,
    }
}

fn apic_record(record: &[u8], wide: bool) -> Option<Body> {
    let low = u8_at(record, apic::PXM_LOW)?;
    let &[a, b, c] = record.get(apic::PXM_HIGH..apic::PXM_HIGH + 3)? else { return None };
    let all = u32::from_le_bytes([low, a, b, c]);
    let (pxm, high_bits) = domain(all, wide);
    Some(Body::Cpu(CpuAffinity {
        pxm,
        apic: ApicId(u32::from(u8_at(record, apic::APIC_ID)?)),
        enabled: u32_at(record, apic::FLAGS)? & ENABLED != 0,
        x2apic: false,
        high_bits,
    }))
}

fn memory_record(record: &[u8], wide: bool) -> Option<Body> {
    let flags = u32_at(record, memory::FLAGS)?;
    let (pxm, high_bits) = domain(u32_at(record, memory::PXM)?, wide);
    Some(Body::Memory(MemoryAffinity {
        pxm,
        base: u64_at(record, memory::BASE)?,
        length: u64_at(record, memory::RANGE_LENGTH)?,
        enabled: flags & ENABLED != 0,
        hotplug: flags & memory::HOTPLUG != 0,
        nonvolatile: flags & memory::NONVOLATILE != 0,
        high_bits,
    }))
}

fn x2apic_record(record: &[u8]) -> Option<Body> {
    Some(Body::Cpu(CpuAffinity {
        pxm: ProximityDomain(u32_at(record, x2apic::PXM)?),
        apic: ApicId(u32_at(record, x2apic::APIC_ID)?),
        enabled: u32_at(record, x2apic::FLAGS)? & ENABLED != 0,
        x2apic: true,
        high_bits: false,
    }))
}

fn initiator_record(record: &[u8]) -> Option<Body> {
    let flags = u32_at(record, device::FLAGS)?;
    Some(Body::Initiator(InitiatorAffinity {
        pxm: ProximityDomain(u32_at(record, device::PXM)?),
        handle: DeviceHandle::of(record)?,
        enabled: flags & ENABLED != 0,
        architectural: flags & device::ARCHITECTURAL != 0,
    }))
}

/// The domain that 32 bits mean: all of them, or the low 8. Also whether others were dropped.
fn domain(bits: u32, wide: bool) -> (ProximityDomain, bool) {
    if wide { (ProximityDomain(bits), false) } else { (ProximityDomain(bits & 0xff), bits > 0xff) }
}
