//! System Resource Affinity Table: which CPU and which memory is in which proximity domain
//! (ACPI 6.5, 5.2.16).
//!
//! A table goes in, its records come out in table order, each with its place. Records that cannot
//! be read come out, too, as what is wrong with them.

use super::bytes::{u8_at, u32_at, u64_at};
use super::{Header, Table};
use crate::finding::{Findings, Place};
use crate::ids::{ApicId, ProximityDomain};
use crate::units::PhysRange;

mod line;

/// The signature.
pub const SIGNATURE: &str = "SRAT";
/// The type of a generic initiator.
pub const INITIATOR: u8 = initiator::KIND;
/// Where the records begin: behind the header, a reserved u32 and a reserved u64.
const RECORDS: usize = Header::LENGTH + 4 + 8;

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

/// Type 5, generic initiator affinity (ACPI 6.5, table 5.53). Its whole length is 32.
mod initiator {
    pub const KIND: u8 = 5;
    pub const PXM: usize = 4;
    const HANDLE: usize = 8;
    pub const FLAGS: usize = 24;
    const _: () = assert!(HANDLE + 16 == FLAGS);
}

/// Bit 0 of the flags of every type.
const ENABLED: u32 = 1 << 0;

/// An SRAT.
#[derive(Clone, Copy, Debug)]
pub struct Srat<'a> {
    table: Table<'a>,
}

/// A record and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Offset in the table, in bytes.
    pub offset: u32,
    /// Number in the table, from 0; records of every type count.
    pub record: u32,
    /// What it says, or what is wrong with it.
    pub body: Body,
}

/// What a record says, or why it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// A CPU: type 0 or 2.
    Cpu(CpuAffinity),
    /// Memory: type 1.
    Memory(MemoryAffinity),
    /// A generic initiator: type 5.
    Initiator(InitiatorAffinity),
    /// Another type, or an initiator too short to have flags: skipped by its length.
    Other {
        /// The type.
        kind: u8,
        /// Its length in bytes.
        length: u8,
    },
    /// A length that the type cannot have. Below 2 it is the last entry: there is no way on.
    BadLength {
        /// The type.
        kind: u8,
        /// The length in bytes.
        length: u8,
    },
    /// It runs past the end of the table; the last entry.
    Truncated {
        /// Bytes of it that are there, at least 1.
        present: u32,
    },
}

/// A CPU in a domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuAffinity {
    /// The domain.
    pub pxm: ProximityDomain,
    /// The CPU.
    pub apic: ApicId,
    /// Whether the record counts.
    pub enabled: bool,
    /// Whether it is a type 2 record, which has room for 32 bits of APIC id.
    pub x2apic: bool,
    /// Whether domain bits were dropped because the table's revision has only 8.
    pub high_bits: bool,
}

/// Memory in a domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAffinity {
    /// The domain.
    pub pxm: ProximityDomain,
    /// First byte.
    pub base: u64,
    /// How many bytes.
    pub length: u64,
    /// Whether the record counts.
    pub enabled: bool,
    /// Whether this memory may come and go.
    pub hotplug: bool,
    /// Whether it keeps its content without power.
    pub nonvolatile: bool,
    /// Whether domain bits were dropped because the table's revision has only 8.
    pub high_bits: bool,
}

/// A device in a domain that accesses memory by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InitiatorAffinity {
    /// The domain.
    pub pxm: ProximityDomain,
    /// Whether the record counts.
    pub enabled: bool,
}

impl<'a> Srat<'a> {
    /// Looks at the header; see [`Table::parse`].
    pub fn parse(bytes: &'a [u8], findings: &mut dyn Findings) -> Option<Srat<'a>> {
        Table::parse(bytes, SIGNATURE, findings).map(|table| Srat { table })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.table.header
    }

    /// The records in table order. Ends at the table's end, at the latest.
    pub fn entries(&self) -> Entries<'a> {
        let wide = self.table.header.revision >= 2;
        Entries { bytes: self.table.bytes, at: RECORDS, record: 0, wide }
    }
}

impl Entry {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place::record(SIGNATURE, self.offset, self.record)
    }

    /// The domain that it names, enabled or not; `None` for what has none or cannot be read.
    pub fn pxm(&self) -> Option<ProximityDomain> {
        match self.body {
            Body::Cpu(cpu) => Some(cpu.pxm),
            Body::Memory(memory) => Some(memory.pxm),
            Body::Initiator(initiator) => Some(initiator.pxm),
            Body::Other { .. } | Body::BadLength { .. } | Body::Truncated { .. } => None,
        }
    }
}

impl MemoryAffinity {
    /// The addresses, the end exclusive; `None` when it is beyond 64 bits.
    pub fn range(&self) -> Option<PhysRange> {
        Some(PhysRange::new(self.base, self.base.checked_add(self.length)?))
    }
}

/// The records of an SRAT.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    record: u32,
    /// Whether domains have 32 bits: from revision 2 on.
    wide: bool,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let body = decode(rest, self.wide);
        let entry = Entry { offset: self.at as u32, record: self.record, body };
        let length = rest.get(1).copied().map_or(0, usize::from);
        let last = length < 2 || matches!(body, Body::Truncated { .. });
        self.at = if last { self.bytes.len() } else { self.at + length };
        self.record += 1;
        Some(entry)
    }
}

/// Decodes the record that `rest` begins with. `rest` is not empty.
fn decode(rest: &[u8], wide: bool) -> Body {
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
        initiator::KIND => initiator_record(record),
        _ => None,
    };
    decoded.unwrap_or(Body::Other { kind, length })
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
    Some(Body::Initiator(InitiatorAffinity {
        pxm: ProximityDomain(u32_at(record, initiator::PXM)?),
        enabled: u32_at(record, initiator::FLAGS)? & ENABLED != 0,
    }))
}

/// The domain that 32 bits mean: all of them, or the low 8. Also whether others were dropped.
fn domain(bits: u32, wide: bool) -> (ProximityDomain, bool) {
    if wide { (ProximityDomain(bits), false) } else { (ProximityDomain(bits & 0xff), bits > 0xff) }
}

#[cfg(test)]
mod tests;
