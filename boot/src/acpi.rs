//! ACPI tables made of their parts: entries in, bytes with a header out (ACPI 6.5, 5.2.6, 5.2.16 and
//! 5.2.17).

/// Bytes of the header that every table starts with.
pub const HEADER: usize = 36;
/// Where the checksum is.
const CHECKSUM: usize = 9;

/// A whole ACPI table, header included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The signature, as `SRAT`.
    pub signature: String,
    /// All bytes.
    pub bytes: Vec<u8>,
}

/// Who a table says that it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oem {
    /// Who made the machine.
    pub id: [u8; 6],
    /// Which machine.
    pub table_id: [u8; 8],
    /// Which tool made the table.
    pub creator: [u8; 4],
}

/// One entry of an SRAT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SratEntry {
    /// Type 0, a CPU by its local APIC id.
    Apic {
        /// Local APIC id.
        id: u8,
        /// Proximity domain.
        pxm: u32,
        /// Whether the entry counts.
        enabled: bool,
    },
    /// Type 2, a CPU by its x2APIC id.
    X2apic {
        /// x2APIC id.
        id: u32,
        /// Proximity domain.
        pxm: u32,
        /// Whether the entry counts.
        enabled: bool,
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
    /// Type 5, a generic initiator, with a PCI handle of zeros.
    Initiator {
        /// Proximity domain.
        pxm: u32,
        /// Whether the entry counts.
        enabled: bool,
    },
    /// Any type: zeros behind type and length.
    Other {
        /// The type.
        kind: u8,
        /// Length in bytes; below 2 it counts as 2.
        length: u8,
    },
}

impl SratEntry {
    /// The entry's bytes.
    fn bytes(&self) -> Vec<u8> {
        match *self {
            SratEntry::Apic { id, pxm, enabled } => {
                let [low, high @ ..] = pxm.to_le_bytes();
                Record::new(0, 16).put(2, &[low, id]).word(4, enabled.into()).put(9, &high).bytes
            }
            SratEntry::X2apic { id, pxm, enabled } => {
                Record::new(2, 24).word(4, pxm).word(8, id).word(12, enabled.into()).bytes
            }
            SratEntry::Memory { pxm, start, length, flags } => {
                let range = [start.to_le_bytes(), length.to_le_bytes()].concat();
                Record::new(1, 40).word(2, pxm).put(8, &range).word(28, flags).bytes
            }
            SratEntry::Initiator { pxm, enabled } => {
                Record::new(5, 32).put(3, &[1]).word(4, pxm).word(24, enabled.into()).bytes
            }
            SratEntry::Other { kind, length } => Record::new(kind, length.max(2)).bytes,
        }
    }
}

/// An SRAT of these entries.
pub fn srat(oem: &Oem, revision: u8, entries: &[SratEntry]) -> Table {
    // A reserved word that has to be 1, then eight reserved bytes.
    let mut body = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    body.extend(entries.iter().flat_map(SratEntry::bytes));
    table(b"SRAT", oem, revision, &body)
}

/// A SLIT of these rows; the count of localities is the count of rows, also where a row is of
/// another length.
pub fn slit(oem: &Oem, revision: u8, rows: &[Vec<u8>]) -> Table {
    let mut body = Vec::from((rows.len() as u64).to_le_bytes());
    body.extend(rows.iter().flatten());
    table(b"SLIT", oem, revision, &body)
}

fn table(signature: &[u8; 4], oem: &Oem, revision: u8, body: &[u8]) -> Table {
    let length = HEADER + body.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(signature);
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend([revision, 0]);
    bytes.extend(oem.id);
    bytes.extend(oem.table_id);
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(oem.creator);
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(body);
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[CHECKSUM] = sum.wrapping_neg();
    Table { signature: String::from_utf8_lossy(signature).into_owned(), bytes }
}

/// An entry under construction.
struct Record {
    bytes: Vec<u8>,
}

impl Record {
    fn new(kind: u8, length: u8) -> Record {
        let mut bytes = vec![0; usize::from(length)];
        bytes[..2].copy_from_slice(&[kind, length]);
        Record { bytes }
    }

    fn put(mut self, at: usize, field: &[u8]) -> Record {
        self.bytes[at..at + field.len()].copy_from_slice(field);
        self
    }

    fn word(self, at: usize, word: u32) -> Record {
        self.put(at, &word.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OEM: Oem = Oem { id: *b"MAKER ", table_id: *b"MACHINE ", creator: *b"TOOL" };

    #[test]
    fn header_and_slit() {
        let table = slit(&OEM, 1, &[vec![10, 20], vec![20, 10]]);
        assert_eq!(table.signature, "SLIT");
        assert_eq!(&table.bytes[..9], b"SLIT\x30\0\0\0\x01");
        assert_eq!(&table.bytes[10..36], b"MAKER MACHINE \x01\0\0\0TOOL\x01\0\0\0");
        assert_eq!(table.bytes[36..], [2, 0, 0, 0, 0, 0, 0, 0, 10, 20, 20, 10]);
        assert_eq!(table.bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte)), 0);
    }

    #[test]
    fn entries_byte_for_byte() {
        let entries = [
            SratEntry::Apic { id: 5, pxm: 0x0403_0201, enabled: true },
            SratEntry::X2apic { id: 0x1234, pxm: 7, enabled: true },
            SratEntry::Memory { pxm: 2, start: 0x1000, length: 0x2_0000_0000, flags: 3 },
            SratEntry::Other { kind: 9, length: 0 },
            SratEntry::Initiator { pxm: 6, enabled: true },
        ];
        let bytes = srat(&OEM, 2, &entries).bytes;
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
        assert_eq!(bytes[88..128], memory);
        assert_eq!(bytes[128..138], [9, 2, 5, 32, 0, 1, 6, 0, 0, 0]);
        assert_eq!((bytes[154], bytes.len()), (1, 162));
    }
}
