//! CXL Early Discovery Table: where CXL memory may come to lie (CXL 3.1, 9.18.1).
//!
//! A table goes in, its records come out in table order, each with its place. A fixed memory
//! window is a range of addresses that host bridges decode; what is behind it, if anything, is
//! found out long after boot. So a node is kept for it: see [`Inputs::cedt`].
//!
//! [`Inputs::cedt`]: crate::topology::Inputs::cedt

use super::walk::{Head, Records};
use super::{Header, Table};
use crate::finding::{Findings, Place};
use crate::units::PhysRange;

mod decode;
mod line;

/// The signature.
pub const SIGNATURE: &str = "CEDT";
/// Where the records begin.
const RECORDS: usize = Header::LENGTH;

/// A CEDT.
#[derive(Clone, Copy, Debug)]
pub struct Cedt<'a> {
    table: Table<'a>,
}

/// A record and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    /// Offset in the table, in bytes.
    pub offset: u32,
    /// Number in the table, from 0; records of every type count.
    pub record: u32,
    /// What it says, or what is wrong with it.
    pub body: Body<'a>,
}

/// What a record says, or why it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// A host bridge: type 0.
    HostBridge(HostBridge),
    /// A fixed memory window: type 1.
    Window(Window<'a>),
    /// Another type: skipped by its length.
    Other {
        /// The type.
        kind: u8,
        /// Its length in bytes.
        length: u16,
    },
    /// A length that the type cannot have; the last record, there is no way on.
    BadLength {
        /// The type.
        kind: u8,
        /// The length in bytes.
        length: u16,
    },
    /// It runs past the end of the table; the last record.
    Truncated {
        /// Bytes of it that are there, at least 1.
        present: u32,
    },
}

/// A CXL host bridge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostBridge {
    /// Its `_UID` in the ACPI namespace.
    pub uid: u32,
    /// 0 for CXL 1.1, 1 for later ones.
    pub version: u32,
    /// First byte of its registers.
    pub base: u64,
    /// How many bytes.
    pub length: u64,
}

/// A fixed memory window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window<'a> {
    /// First byte.
    pub base: u64,
    /// How many bytes.
    pub length: u64,
    /// Over how many host bridges it is interleaved; `None` for a number that there is not.
    pub ways: Option<u8>,
    /// How many bytes in a row one host bridge has; `None` for a number that there is not.
    pub granularity: Option<u32>,
    /// What may be there: bits of [`Window::TYPE_2`] and its like.
    pub restrictions: u16,
    /// Class of quality of service.
    pub qos_class: u16,
    /// The host bridges' ids, four bytes each.
    targets: &'a [u8],
}

impl<'a> Cedt<'a> {
    /// Looks at the header; see [`Table::parse`].
    pub fn parse(bytes: &'a [u8], findings: &mut dyn Findings) -> Option<Cedt<'a>> {
        Table::parse(bytes, SIGNATURE, findings).map(|table| Cedt { table })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.table.header
    }

    /// The records in table order. Ends at the table's end, at the latest.
    pub fn entries(&self) -> Entries<'a> {
        Entries { records: Records::new(self.table.bytes, RECORDS, Head::Word) }
    }
}

impl Entry<'_> {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place::record(SIGNATURE, self.offset, self.record)
    }
}

impl<'a> Window<'a> {
    /// Restriction: devices that cache (type 2) may be there.
    pub const TYPE_2: u16 = 1 << 0;
    /// Restriction: memory devices (type 3) may be there.
    pub const TYPE_3: u16 = 1 << 1;
    /// Restriction: volatile memory may be there.
    pub const VOLATILE: u16 = 1 << 2;
    /// Restriction: persistent memory may be there.
    pub const PERSISTENT: u16 = 1 << 3;
    /// Restriction: the firmware's configuration must stay.
    pub const FIXED: u16 = 1 << 4;

    /// The addresses, the end exclusive; `None` when there are none or the end is beyond 64 bits.
    pub fn range(&self) -> Option<PhysRange> {
        let end = self.base.checked_add(self.length)?;
        (self.length > 0).then_some(PhysRange::new(self.base, end))
    }

    /// `_UID`s of the host bridges behind it, as many as [`Window::ways`] says and are there.
    pub fn targets(&self) -> impl Iterator<Item = u32> + 'a {
        self.targets.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes))
    }
}

/// The records of a CEDT.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    records: Records<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let raw = self.records.next()?;
        let body = decode::decode(raw.bytes);
        if matches!(body, Body::BadLength { .. }) {
            self.records.stop();
        }
        Some(Entry { offset: raw.offset, record: raw.record, body })
    }
}

#[cfg(test)]
mod tests;
