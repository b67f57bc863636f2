//! System Resource Affinity Table: which CPU and which memory is in which proximity domain
//! (ACPI 6.5, 5.2.16).
//!
//! A table goes in, its records come out in table order, each with its place. Records that cannot
//! be read come out, too, as what is wrong with them.

use super::{Header, Table};
use crate::finding::{Findings, Place};
use crate::ids::{ApicId, ProximityDomain};
use crate::units::PhysRange;

mod decode;
mod handle;
mod line;
mod other;

pub use handle::DeviceHandle;
pub use other::Named;

/// The signature.
pub const SIGNATURE: &str = "SRAT";
/// The type of a generic initiator.
pub const INITIATOR: u8 = 5;
/// Where the records begin: behind the header, a reserved u32 and a reserved u64.
const RECORDS: usize = Header::LENGTH + 4 + 8;

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
    /// How many bytes it has behind those that its type is known to have.
    pub surplus: u8,
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
        /// What it says, when the type is known; it makes no node all the same.
        named: Option<Named>,
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
    /// Which device.
    pub handle: DeviceHandle,
    /// Whether the record counts.
    pub enabled: bool,
    /// Whether it can do all transactions that the architecture needs for coherent memory.
    pub architectural: bool,
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
            Body::Other { named, .. } => named.map(|named| named.pxm()),
            Body::BadLength { .. } | Body::Truncated { .. } => None,
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
        let body = decode::decode(rest, self.wide);
        let length = rest.get(1).copied().unwrap_or(0);
        let surplus = length.saturating_sub(decode::known_length(&body, length));
        let entry = Entry { offset: self.at as u32, record: self.record, surplus, body };
        let length = usize::from(length);
        let last = length < 2 || matches!(body, Body::Truncated { .. });
        self.at = if last { self.bytes.len() } else { self.at + length };
        self.record += 1;
        Some(entry)
    }
}

#[cfg(test)]
mod tests;
