//! Heterogeneous Memory Attribute Table: how fast initiators reach memory, and the caches in front
//! of it (ACPI 6.5, 5.2.27).
//!
//! A table goes in, its structures come out in table order, each with its place. Structures that
//! cannot be read come out, too, as what is wrong with them. [`Hmat::parse`] refuses a table that
//! has a length or counts that cannot be, as Linux does; [`Hmat::read`] is for tools that show such
//! tables nevertheless.

use super::bytes::{u16_at, u32_at};
use super::{Header, Table};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::ids::ProximityDomain;

mod cache;
mod check;
mod decode;
mod line;
mod locality;

pub use cache::{Associativity, SideCache, WritePolicy};
pub use locality::{DataType, Locality, Value};

/// The signature.
pub const SIGNATURE: &str = "HMAT";
/// Where the structures begin: behind the header and a reserved u32.
const STRUCTURES: usize = Header::LENGTH + 4;
/// Type u16, reserved u16, length u32: what every structure begins with.
const STRUCTURE_HEADER: usize = 8;
/// Offset of the revision in the header.
const REVISION: u32 = 8;
/// The revisions whose units are known.
const REVISIONS: core::ops::RangeInclusive<u8> = 1..=2;

/// An HMAT.
#[derive(Clone, Copy, Debug)]
pub struct Hmat<'a> {
    table: Table<'a>,
}

/// A structure and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Structure<'a> {
    /// Offset in the table, in bytes.
    pub offset: u32,
    /// Number in the table, from 0; structures of every type count.
    pub record: u32,
    /// What it says, or what is wrong with it.
    pub body: Body<'a>,
}

/// What a structure says, or why it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// Attributes of a memory domain: type 0.
    Attributes(DomainAttributes),
    /// Latencies or bandwidths: type 1.
    Locality(Locality<'a>),
    /// A memory side cache: type 2.
    Cache(SideCache),
    /// Another type: skipped by its length.
    Other {
        /// The type.
        kind: u16,
        /// Its length in bytes.
        length: u32,
    },
    /// A length that the type cannot have. Below 8 it is the last structure: there is no way on.
    BadLength {
        /// The type.
        kind: u16,
        /// The length in bytes.
        length: u32,
    },
    /// Latencies or bandwidths whose counts ask for more bytes than the structure has.
    BadCounts {
        /// How many initiators it says.
        initiators: u32,
        /// How many targets it says.
        targets: u32,
        /// Its length in bytes.
        length: u32,
    },
    /// It runs past the end of the table; the last structure.
    Truncated {
        /// Bytes of it that are there, at least 1.
        present: u32,
    },
}

/// Memory, and the initiator that it is attached to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DomainAttributes {
    /// The memory's domain; `None` where revision 1 says that it does not count.
    pub memory: Option<ProximityDomain>,
    /// The domain of the CPUs or the device whose memory controller it hangs on.
    pub initiator: Option<ProximityDomain>,
}

impl<'a> Hmat<'a> {
    /// Looks at a table and all its structures. Of a table of an unknown revision, or with a
    /// length or counts that cannot be, nothing is used: findings and `None`. What runs past the
    /// table's end is a finding, and what stands before it counts.
    pub fn parse(bytes: &'a [u8], findings: &mut dyn Findings) -> Option<Hmat<'a>> {
        let hmat = Hmat::read(bytes, findings)?;
        if !hmat.check(findings) {
            findings.add(Finding::at(Place::table(SIGNATURE), Kind::HmatRejected));
            return None;
        }
        Some(hmat)
    }

    /// Looks at the header only; see [`Table::parse`]. Fewer bytes than the fixed part's 40 are a
    /// finding and `None`.
    pub fn read(bytes: &'a [u8], findings: &mut dyn Findings) -> Option<Hmat<'a>> {
        let table = Table::parse(bytes, SIGNATURE, findings)?;
        if table.bytes.len() < STRUCTURES {
            let (bytes, least) = (table.bytes.len() as u32, STRUCTURES as u32);
            let kind = Kind::TableTooShort { bytes, least };
            findings.add(Finding::at(Place::table(SIGNATURE), kind));
            return None;
        }
        Some(Hmat { table })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.table.header
    }

    /// The structures in table order. Ends at the table's end, at the latest.
    pub fn structures(&self) -> Structures<'a> {
        let revision = self.table.header.revision;
        Structures { bytes: self.table.bytes, at: STRUCTURES, record: 0, revision }
    }
}

impl Structure<'_> {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place::record(SIGNATURE, self.offset, self.record)
    }
}

/// The structures of an HMAT.
#[derive(Clone, Debug)]
pub struct Structures<'a> {
    bytes: &'a [u8],
    at: usize,
    record: u32,
    revision: u8,
}

impl<'a> Iterator for Structures<'a> {
    type Item = Structure<'a>;

    fn next(&mut self) -> Option<Structure<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let body = match (u16_at(rest, 0), u32_at(rest, 4)) {
            (Some(kind), Some(length)) => decode::decode(rest, kind, length, self.revision),
            _ => Body::Truncated { present: rest.len() as u32 },
        };
        let structure = Structure { offset: self.at as u32, record: self.record, body };
        let length = u32_at(rest, 4).map_or(0, |length| length as usize);
        let last = length < STRUCTURE_HEADER || length >= rest.len();
        self.at = if last { self.bytes.len() } else { self.at + length };
        self.record += 1;
        Some(structure)
    }
}

#[cfg(test)]
pub(crate) mod by_hand;
#[cfg(test)]
mod tests;
