//! ACPI tables that a case brings along, made to bytes. QEMU corrects length and checksum.

use anyhow::Result;

use crate::fault::bad_machine;

/// Bytes of the header that every table starts with (ACPI 6.5, 5.2.6).
const HEADER: usize = 36;

/// A whole ACPI table, header included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The signature, as `SRAT`.
    pub signature: String,
    /// All bytes; the checksum is 0 and left to QEMU.
    pub bytes: Vec<u8>,
}

impl Table {
    /// The OEM fields are those that the recorded cases have, so that a dump of such a table
    /// compares byte for byte.
    fn new(signature: &[u8; 4], revision: u8, body: &[u8]) -> Table {
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
        bytes.extend(signature);
        bytes.extend(length.to_le_bytes());
        bytes.extend([revision, 0]);
        bytes.extend(b"ORACLETOPOLOGY");
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(b"TEST");
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(body);
        Table { signature: String::from_utf8_lossy(signature).into_owned(), bytes }
    }
}

/// One entry of an SRAT, enabled unless its flags say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SratEntry {
    /// Type 0, a CPU by its local APIC id.
    Apic {
        /// Local APIC id.
        id: u8,
        /// Proximity domain.
        pxm: u32,
    },
    /// Type 2, a CPU by its x2APIC id.
    X2apic {
        /// x2APIC id.
        id: u32,
        /// Proximity domain.
        pxm: u32,
    },
    /// Type 1, a range of memory.
    Memory {
        /// Proximity domain.
        pxm: u32,
        /// First byte.
        start: u64,
        /// Length in bytes.
        length: u64,
        /// Bit 0 enabled, bit 1 hot-pluggable, bit 2 non-volatile.
        flags: u32,
    },
}

impl SratEntry {
    /// The entry's bytes (ACPI 6.5, 5.2.16.1 to 5.2.16.3).
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match *self {
            SratEntry::Apic { id, pxm } => {
                let [low, high @ ..] = pxm.to_le_bytes();
                out.extend([0, 16, low, id]);
                out.extend(1u32.to_le_bytes());
                out.push(0);
                out.extend(high);
                out.extend(0u32.to_le_bytes());
            }
            SratEntry::X2apic { id, pxm } => {
                out.extend([2, 24, 0, 0]);
                for word in [pxm, id, 1, 0, 0] {
                    out.extend(word.to_le_bytes());
                }
            }
            SratEntry::Memory { pxm, start, length, flags } => {
                out.extend([1, 40]);
                out.extend(pxm.to_le_bytes());
                out.extend([0, 0]);
                out.extend(start.to_le_bytes());
                out.extend(length.to_le_bytes());
                out.extend(0u32.to_le_bytes());
                out.extend(flags.to_le_bytes());
                out.extend(0u64.to_le_bytes());
            }
        }
        out
    }
}

/// An SRAT of these entries.
pub fn srat(revision: u8, entries: &[SratEntry]) -> Table {
    let mut body = Vec::new();
    // A reserved word that has to be 1, then eight reserved bytes.
    body.extend(1u32.to_le_bytes());
    body.extend(0u64.to_le_bytes());
    body.extend(entries.iter().flat_map(SratEntry::bytes));
    Table::new(b"SRAT", revision, &body)
}

/// A SLIT of these rows; the count of localities is the count of rows, also where a row is of
/// another length.
///
/// # Errors
/// [`crate::fault::BadMachine`] for no rows.
pub fn slit(revision: u8, rows: &[Vec<u8>]) -> Result<Table> {
    if rows.is_empty() {
        return Err(bad_machine("an SLIT without rows"));
    }
    let mut body = Vec::new();
    body.extend((rows.len() as u64).to_le_bytes());
    body.extend(rows.iter().flatten());
    Ok(Table::new(b"SLIT", revision, &body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_slit() {
        let table = slit(1, &[vec![10, 20], vec![20, 10]]).unwrap();
        assert_eq!(table.signature, "SLIT");
        assert_eq!(&table.bytes[..10], b"SLIT\x30\0\0\0\x01\0");
        assert_eq!(table.bytes[36..], [2, 0, 0, 0, 0, 0, 0, 0, 10, 20, 20, 10]);
        assert_eq!(table.bytes.len(), 0x30);
        assert!(slit(1, &[]).is_err());
    }

    #[test]
    fn entries_byte_for_byte() {
        let entries = [
            SratEntry::Apic { id: 5, pxm: 0x0403_0201 },
            SratEntry::X2apic { id: 0x1234, pxm: 7 },
            SratEntry::Memory { pxm: 2, start: 0x1000, length: 0x2_0000_0000, flags: 3 },
        ];
        let bytes = srat(2, &entries).bytes;
        assert_eq!(bytes[8], 2);
        assert_eq!(bytes[36..48], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[48..64], [0, 16, 1, 5, 1, 0, 0, 0, 0, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(
            bytes[64..88],
            [2, 24, 0, 0, 7, 0, 0, 0, 0x34, 0x12, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        let mut memory = [0; 40];
        (memory[0], memory[1], memory[2]) = (1, 40, 2);
        (memory[9], memory[20], memory[28]) = (0x10, 2, 3);
        assert_eq!(bytes[88..], memory);
    }
}
