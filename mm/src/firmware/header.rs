//! The header that every system description table begins with (ACPI 6.5, table 5.4).

use core::fmt;

use super::bytes::{array_at, u8_at, u32_at};
use crate::finding::{Finding, Findings, Kind, Place};

const SIGNATURE: usize = 0;
const TABLE_LENGTH: usize = 4;
const REVISION: usize = 8;
const OEM_ID: usize = 10;
const OEM_TABLE_ID: usize = 16;
const OEM_REVISION: usize = 24;
const CREATOR_ID: usize = 28;
const CREATOR_REVISION: usize = 32;

/// A table's four-letter name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Signature(pub [u8; 4]);

/// The letters; other bytes as `\x00`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

/// A table's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Which table it is.
    pub signature: Signature,
    /// Length of the whole table as it says itself, in bytes.
    pub length: u32,
    /// Revision of the table's layout.
    pub revision: u8,
    /// Who made the machine.
    pub oem_id: [u8; 6],
    /// Which machine.
    pub oem_table_id: [u8; 8],
    /// Which revision of it.
    pub oem_revision: u32,
    /// Which tool made the table.
    pub creator_id: [u8; 4],
    /// Which revision of the tool.
    pub creator_revision: u32,
}

impl Header {
    /// Bytes of a header.
    pub const LENGTH: usize = 36;

    /// Reads a header; `None` when there are fewer than [`Header::LENGTH`] bytes.
    pub fn read(bytes: &[u8]) -> Option<Header> {
        Some(Header {
            signature: Signature(array_at(bytes, SIGNATURE)?),
            length: u32_at(bytes, TABLE_LENGTH)?,
            revision: u8_at(bytes, REVISION)?,
            oem_id: array_at(bytes, OEM_ID)?,
            oem_table_id: array_at(bytes, OEM_TABLE_ID)?,
            oem_revision: u32_at(bytes, OEM_REVISION)?,
            creator_id: array_at(bytes, CREATOR_ID)?,
            creator_revision: u32_at(bytes, CREATOR_REVISION)?,
        })
    }

    /// The line of Linux's log for a table at `address`.
    pub fn line(&self, address: u64) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| {
            write!(
                f,
                "ACPI: {} {address:#018X} {:06X} (v{:02} ",
                self.signature, self.length, self.revision
            )?;
            letters(f, &self.oem_id)?;
            f.write_str(" ")?;
            letters(f, &self.oem_table_id)?;
            write!(f, " {:08X} ", self.oem_revision)?;
            letters(f, &self.creator_id)?;
            write!(f, " {:08X})", self.creator_revision)
        })
    }
}

const _: () = assert!(CREATOR_REVISION + size_of::<u32>() == Header::LENGTH);

/// Bytes as letters, a blank for what is none.
fn letters(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for &byte in bytes {
        let letter = if byte.is_ascii_graphic() { char::from(byte) } else { ' ' };
        write!(f, "{letter}")?;
    }
    Ok(())
}

/// A table whose header has been looked at.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Its header.
    pub header: Header,
    /// All its bytes, header included: as many as its length says, or as there are.
    pub bytes: &'a [u8],
}

impl<'a> Table<'a> {
    /// Looks at a table. A wrong checksum and a length beyond `bytes` are findings, no more;
    /// another signature, or less than a header, is a finding and `None`.
    pub fn parse(
        bytes: &'a [u8],
        signature: &'static str,
        findings: &mut dyn Findings,
    ) -> Option<Table<'a>> {
        let mut find = |place, kind| findings.add(Finding::at(place, kind));
        let whole = Place::table(signature);
        let Some(header) = Header::read(bytes) else {
            let (bytes, least) = (bytes.len() as u32, Header::LENGTH as u32);
            find(whole, Kind::TableTooShort { bytes, least });
            return None;
        };
        if header.signature.0 != *signature.as_bytes() {
            find(
                Place::byte(signature, SIGNATURE as u32),
                Kind::TableSignature { found: header.signature },
            );
            return None;
        }
        let at_length = Place::byte(signature, TABLE_LENGTH as u32);
        let length = header.length as usize;
        if length < Header::LENGTH {
            let least = Header::LENGTH as u32;
            find(at_length, Kind::TableTooShort { bytes: header.length, least });
            return None;
        }
        let Some(exact) = bytes.get(..length) else {
            find(at_length, Kind::TableLength { length: header.length, bytes: bytes.len() as u32 });
            return Some(Table { header, bytes });
        };
        let sum = exact.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        if sum != 0 {
            find(whole, Kind::TableChecksum { sum });
        }
        Some(Table { header, bytes: exact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// The header and fixed part of an SRAT as QEMU makes it, without records.
    const QEMU: [u8; 48] = *b"SRAT\x30\0\0\0\x01\x29BOCHS BXPC    \x01\0\0\0BXPC\x01\0\0\0\
        \x01\0\0\0\0\0\0\0\0\0\0\0";

    fn parse(bytes: &[u8]) -> (Option<usize>, Vec<&'static str>) {
        let mut names = Vec::new();
        let mut sink = |finding: Finding| names.push(finding.kind.name());
        let table = Table::parse(bytes, "SRAT", &mut sink);
        (table.map(|table| table.bytes.len()), names)
    }

    #[test]
    fn a_sound_header_is_read_and_nothing_is_found() {
        let header = Header::read(&QEMU).unwrap();
        assert_eq!((header.signature.0, header.length, header.revision), (*b"SRAT", 48, 1));
        assert_eq!(
            header.line(0x7fe2166).to_string(),
            "ACPI: SRAT 0x0000000007FE2166 000030 (v01 BOCHS  BXPC     00000001 BXPC 00000001)"
        );
        assert_eq!(parse(&QEMU), (Some(48), [].to_vec()));
    }

    #[test]
    fn bytes_behind_the_table_do_not_count() {
        assert_eq!(parse(&[&QEMU[..], &[7; 9]].concat()), (Some(48), [].to_vec()));
    }

    #[test]
    fn a_wrong_checksum_is_a_finding_only() {
        let mut bytes = QEMU;
        bytes[9] ^= 1;
        assert_eq!(parse(&bytes), (Some(48), ["table-checksum"].to_vec()));
    }

    #[test]
    fn a_length_beyond_the_bytes_reads_what_is_there() {
        assert_eq!(parse(&QEMU[..40]), (Some(40), ["table-length"].to_vec()));
    }

    #[test]
    fn no_header_or_another_table_is_no_table() {
        assert_eq!(parse(&QEMU[..35]), (None, ["table-too-short"].to_vec()));
        assert_eq!(parse(&[]), (None, ["table-too-short"].to_vec()));
        let mut bytes = QEMU;
        bytes[4] = 35;
        assert_eq!(parse(&bytes), (None, ["table-too-short"].to_vec()));
        bytes[0] = b'X';
        assert_eq!(parse(&bytes), (None, ["table-signature"].to_vec()));
    }
}
