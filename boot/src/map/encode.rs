//! Entries of a case -> the bytes of a table (ACPI 6.5, 5.2.16 and 5.2.17).

use anyhow::{Context, Result, bail, ensure};

use super::case::{CaseEntry, CaseSrat, Number};

/// Bytes of the header that every table begins with.
const HEADER: usize = 36;
/// Where the checksum is.
const CHECKSUM: usize = 9;

/// An SRAT of these entries.
///
/// # Errors
/// A number has no room in its field, or an entry cannot be made (`malformed`).
pub fn srat(srat: &CaseSrat) -> Result<Vec<u8>> {
    let mut body = Vec::from(1u32.to_le_bytes());
    body.extend([0; 8]);
    for (number, entry) in srat.entries.iter().enumerate() {
        body.extend(record(entry).with_context(|| format!("entry {number}"))?);
    }
    let revision = u8::try_from(srat.revision.0).context("the revision is above 255")?;
    table(b"SRAT", revision, &body)
}

/// A SLIT of these rows.
///
/// # Errors
/// A row has not as many distances as there are rows, or a distance is above 255.
pub fn slit(rows: &[Vec<Number>]) -> Result<Vec<u8>> {
    let mut body = Vec::from((rows.len() as u64).to_le_bytes());
    for row in rows {
        ensure!(row.len() == rows.len(), "a row of {} among {}", row.len(), rows.len());
        for distance in row {
            body.push(u8::try_from(distance.0).context("a distance above 255")?);
        }
    }
    table(b"SLIT", 1, &body)
}

fn table(signature: &[u8; 4], revision: u8, body: &[u8]) -> Result<Vec<u8>> {
    let length = u32::try_from(HEADER + body.len()).context("too long for a table")?;
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(signature);
    bytes.extend(length.to_le_bytes());
    bytes.extend([revision, 0]);
    bytes.extend(b"NEARMEMAP CASE");
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(b"NRMM");
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(body);
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[CHECKSUM] = sum.wrapping_neg();
    Ok(bytes)
}

fn record(entry: &CaseEntry) -> Result<Vec<u8>> {
    Ok(match *entry {
        CaseEntry::Lapic { pxm, apic_id, enabled } => {
            let [low, high @ ..] = word(pxm)?.to_le_bytes();
            let apic = u8::try_from(apic_id.0).context("an APIC id above 255")?;
            Record::new(0, 16).put(2, &[low, apic]).flags(4, enabled).put(9, &high).bytes
        }
        CaseEntry::X2apic { pxm, apic_id, enabled } => {
            Record::new(2, 24).word(4, pxm)?.word(8, apic_id)?.flags(12, enabled).bytes
        }
        CaseEntry::Memory { pxm, base, length, enabled, hotplug, nonvolatile } => {
            let flags = u32::from(enabled) | u32::from(hotplug) << 1 | u32::from(nonvolatile) << 2;
            Record::new(1, 40)
                .word(2, pxm)?
                .put(8, &base.0.to_le_bytes())
                .put(16, &length.0.to_le_bytes())
                .put(28, &flags.to_le_bytes())
                .bytes
        }
        CaseEntry::GenericInitiator { pxm, enabled } => {
            Record::new(5, 32).put(3, &[1]).word(4, pxm)?.flags(24, enabled).bytes
        }
        CaseEntry::Unknown { raw_type, length } => {
            let kind = u8::try_from(raw_type.0).context("a type above 255")?;
            let length = u8::try_from(length.0).context("a length above 255")?;
            ensure!(length >= 2, "a length of {length}");
            Record::new(kind, length).bytes
        }
        CaseEntry::Malformed { ref kind } => bail!("{kind}: the table has to lie beside the case"),
    })
}

fn word(number: Number) -> Result<u32> {
    u32::try_from(number.0).context("a number above 32 bits")
}

/// A record under construction.
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

    fn word(self, at: usize, number: Number) -> Result<Record> {
        Ok(self.put(at, &word(number)?.to_le_bytes()))
    }

    fn flags(self, at: usize, enabled: bool) -> Record {
        self.put(at, &u32::from(enabled).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(revision: u64, entries: &str) -> Result<Vec<u8>> {
        let entries = serde_json::from_str(entries)?;
        srat(&CaseSrat { revision: Number(revision), entries })
    }

    #[test]
    fn a_table_adds_up_to_zero_and_has_its_length() {
        let bytes = made(3, r#"[{"type": "unknown", "raw_type": 6, "length": 32}]"#).unwrap();
        assert_eq!(bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte)), 0);
        assert_eq!((bytes.len(), bytes[4], bytes[8]), (80, 80, 3));
        assert_eq!(bytes[48..52], [6, 32, 0, 0]);
    }

    #[test]
    fn a_wide_domain_is_split_in_a_lapic_entry() {
        let lapic = r#"[{"type": "lapic", "pxm": "0x4030201", "apic_id": 5, "enabled": true}]"#;
        let bytes = made(2, lapic).unwrap();
        assert_eq!(bytes[48..64], [0, 16, 1, 5, 1, 0, 0, 0, 0, 2, 3, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn what_has_no_room_is_an_error() {
        for entry in [
            r#"[{"type": "lapic", "pxm": 0, "apic_id": 256, "enabled": true}]"#,
            r#"[{"type": "x2apic", "pxm": 0, "apic_id": "0x100000000", "enabled": true}]"#,
            r#"[{"type": "malformed", "kind": "cut-short", "raw_type": 0}]"#,
            r#"[{"type": "unknown", "raw_type": 9, "length": 1}]"#,
        ] {
            assert!(made(1, entry).is_err(), "{entry}");
        }
        assert!(slit(&[vec![Number(10), Number(20)]]).is_err());
        assert!(slit(&[vec![Number(256)]]).is_err());
    }
}
