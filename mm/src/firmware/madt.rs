//! Multiple APIC Description Table: which CPUs there are (ACPI 6.5, 5.2.12).
//!
//! A table goes in, its records come out in table order, each with its place; [`present`] makes
//! the list of present CPUs of them. Interrupt controllers and their wiring are skipped.

use super::bytes::u32_at;
use super::walk::{Head, Records};
use super::{Header, Table};
use crate::finding::{Findings, Place};
use crate::ids::ApicId;

mod decode;
mod line;
mod present;

pub use present::{CpuCounts, IdLinks, present};

/// The signature: not the table's name.
pub const SIGNATURE: &str = "APIC";

/// Address of every CPU's local APIC, u32.
const LOCAL_APIC: usize = Header::LENGTH;
/// Flags, u32.
const FLAGS: usize = LOCAL_APIC + 4;
/// Where the records begin.
const RECORDS: usize = FLAGS + 4;
const _: () = assert!(RECORDS == 44);
/// Bit 0 of the flags: there are two 8259 interrupt controllers, too.
const PCAT_COMPAT: u32 = 1 << 0;
/// From this revision on bit 1 of a CPU's flags means something (ACPI 6.3).
const ONLINE_CAPABLE_SINCE: u8 = 5;

/// A MADT.
#[derive(Clone, Copy, Debug)]
pub struct Madt<'a> {
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
    /// A CPU: type 0 or 9.
    Cpu(CpuEntry),
    /// Where the local APICs are, instead of what the header says: type 5.
    LocalApicAddress(u64),
    /// Another type: skipped by its length.
    Other {
        /// The type.
        kind: u8,
        /// Its length in bytes.
        length: u8,
    },
    /// A length that the type cannot have; the last record, there is no way on.
    BadLength {
        /// The type.
        kind: u8,
        /// The length in bytes.
        length: u8,
    },
    /// It runs past the end of the table; the last record.
    Truncated {
        /// Bytes of it that are there, at least 1.
        present: u32,
    },
}

/// A CPU, or a place for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuEntry {
    /// Its local APIC.
    pub apic: ApicId,
    /// Its id in the ACPI namespace.
    pub uid: u32,
    /// Whether it is there.
    pub state: CpuState,
    /// Whether it is a type 9 record, which has room for 32 bits of APIC id.
    pub x2apic: bool,
}

/// Whether a CPU is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuState {
    /// It is present (enabled).
    Present,
    /// It is not and may come while the system runs.
    OnlineCapable,
    /// It is not. Before revision 5 it may come all the same: there is no flag for that.
    Disabled,
    /// The id is the broadcast address, so it is a padding record and no CPU, whatever its flags.
    Nobody,
}

impl<'a> Madt<'a> {
    /// Looks at the header; see [`Table::parse`].
    pub fn parse(bytes: &'a [u8], findings: &mut dyn Findings) -> Option<Madt<'a>> {
        Table::parse(bytes, SIGNATURE, findings).map(|table| Madt { table })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.table.header
    }

    /// Physical address of every CPU's local APIC: a record's, or else the header's; `None` when
    /// the table ends before it.
    pub fn local_apic_address(&self) -> Option<u64> {
        let record = self.entries().find_map(|entry| match entry.body {
            Body::LocalApicAddress(address) => Some(address),
            _ => None,
        });
        record.or_else(|| u32_at(self.table.bytes, LOCAL_APIC).map(u64::from))
    }

    /// Whether there are two 8259 interrupt controllers, which have to be masked.
    pub fn has_8259(&self) -> bool {
        u32_at(self.table.bytes, FLAGS).unwrap_or(0) & PCAT_COMPAT != 0
    }

    /// The records in table order. Ends at the table's end, at the latest.
    pub fn entries(&self) -> Entries<'a> {
        Entries {
            records: Records::new(self.table.bytes, RECORDS, Head::Byte),
            online_capable: self.table.header.revision >= ONLINE_CAPABLE_SINCE,
        }
    }
}

impl Entry {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place::record(SIGNATURE, self.offset, self.record)
    }
}

/// The records of a MADT.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    records: Records<'a>,
    /// Whether the flag of that name counts.
    online_capable: bool,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let raw = self.records.next()?;
        let body = decode::decode(raw.bytes, self.online_capable);
        if matches!(body, Body::BadLength { .. }) {
            self.records.stop();
        }
        Some(Entry { offset: raw.offset, record: raw.record, body })
    }
}

#[cfg(test)]
mod tests;
