//! Entries of a case -> the bytes of a table.

use anyhow::{Context, Result, bail, ensure};

use super::case::{CaseEntry, CaseSrat, Number};
use crate::acpi::{self, Oem, SratEntry};

const OEM: Oem = Oem { id: *b"NEARME", table_id: *b"MAP CASE", creator: *b"NRMM" };

/// An SRAT of these entries.
///
/// # Errors
/// A number has no room in its field, or an entry cannot be made (`malformed`).
pub fn srat(srat: &CaseSrat) -> Result<Vec<u8>> {
    let entries = srat.entries.iter().enumerate();
    let entries =
        entries.map(|(number, case)| entry(case).with_context(|| format!("entry {number}")));
    let entries = entries.collect::<Result<Vec<_>>>()?;
    let revision = u8::try_from(srat.revision.0).context("the revision is above 255")?;
    Ok(acpi::srat(&OEM, revision, &entries).bytes)
}

/// A SLIT of these rows.
///
/// # Errors
/// A row has not as many distances as there are rows, or a distance is above 255.
pub fn slit(rows: &[Vec<Number>]) -> Result<Vec<u8>> {
    let distance = |number: &Number| u8::try_from(number.0).context("a distance above 255");
    let row = |row: &Vec<Number>| {
        ensure!(row.len() == rows.len(), "a row of {} among {}", row.len(), rows.len());
        row.iter().map(distance).collect()
    };
    let rows = rows.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(acpi::slit(&OEM, 1, &rows).bytes)
}

fn entry(entry: &CaseEntry) -> Result<SratEntry> {
    let word = |number: Number| u32::try_from(number.0).context("a number above 32 bits");
    let byte = |number: Number, what: &'static str| {
        u8::try_from(number.0).with_context(|| format!("{what} above 255"))
    };
    Ok(match *entry {
        CaseEntry::Lapic { pxm, apic_id, enabled } => {
            SratEntry::Apic { id: byte(apic_id, "an APIC id")?, pxm: word(pxm)?, enabled }
        }
        CaseEntry::X2apic { pxm, apic_id, enabled } => {
            SratEntry::X2apic { id: word(apic_id)?, pxm: word(pxm)?, enabled }
        }
        CaseEntry::Memory { pxm, base, length, enabled, hotplug, nonvolatile } => {
            let flags = u32::from(enabled) | u32::from(hotplug) << 1 | u32::from(nonvolatile) << 2;
            SratEntry::Memory { pxm: word(pxm)?, start: base.0, length: length.0, flags }
        }
        CaseEntry::GenericInitiator { pxm, enabled } => {
            SratEntry::Initiator { pxm: word(pxm)?, enabled }
        }
        CaseEntry::Unknown { raw_type, length } => {
            let length = byte(length, "a length")?;
            ensure!(length >= 2, "a length of {length}");
            SratEntry::Other { kind: byte(raw_type, "a type")?, length }
        }
        CaseEntry::Malformed { ref kind } => bail!("{kind}: the table has to lie beside the case"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(revision: u64, entries: &str) -> Result<Vec<u8>> {
        let entries = serde_json::from_str(entries)?;
        srat(&CaseSrat { revision: Number(revision), entries })
    }

    #[test]
    fn entries_are_made_with_their_flags() {
        let bytes = made(
            3,
            r#"[{"type": "unknown", "raw_type": 6, "length": 32},
                {"type": "memory", "pxm": 1, "base": "0x1000", "length": 4096, "enabled": true,
                 "nonvolatile": true}]"#,
        );
        let bytes = bytes.unwrap();
        assert_eq!((bytes.len(), bytes[4], bytes[8]), (120, 120, 3));
        assert_eq!(bytes[48..52], [6, 32, 0, 0]);
        assert_eq!((bytes[80], bytes[89], bytes[97], bytes[108]), (1, 0x10, 0x10, 5));
    }

    #[test]
    fn what_has_no_room_is_an_error() {
        for entry in [
            r#"[{"type": "lapic", "pxm": 0, "apic_id": 256, "enabled": true}]"#,
            r#"[{"type": "x2apic", "pxm": 0, "apic_id": "0x100000000", "enabled": true}]"#,
            r#"[{"type": "malformed", "kind": "cut-short", "raw_type": 0}]"#,
            r#"[{"type": "unknown", "raw_type": 9, "length": 1}]"#,
        ] {
            assert!(made(2, entry).is_err(), "{entry}");
        }
        assert!(made(256, "[]").is_err());
        assert!(slit(&[vec![Number(10), Number(20)]]).is_err());
        assert!(slit(&[vec![Number(256)]]).is_err());
    }
}
