//! Cases: machines in JSON with the tables that the firmware shows instead of QEMU's own.
//!
//! `{"name": …, "qemu": [arguments], "append": …, "srat": [["apic", ID, PXM], ["x2apic", ID, PXM],
//! ["mem", PXM, START, END, FLAGS]], "slit": [[10, 20], [20, 10]], "srat_revision": 1}`; all but
//! the first two may be left out. Other keys say why the case is there, and are passed over.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::Machine;
use crate::acpi::{Oem, SratEntry, slit, srat};
use crate::fault::bad_machine;

/// What the recorded cases have, so that a dump of such a table compares byte for byte.
const OEM: Oem = Oem { id: *b"ORACLE", table_id: *b"TOPOLOGY", creator: *b"TEST" };

#[derive(Deserialize)]
struct Case {
    name: String,
    qemu: Vec<String>,
    #[serde(default)]
    append: String,
    srat: Option<Vec<SratEntry>>,
    slit: Option<Vec<Vec<u8>>>,
    #[serde(default = "one")]
    srat_revision: u8,
}

fn one() -> u8 {
    1
}

/// Reads a case file.
///
/// # Errors
/// [`crate::fault::BadMachine`] where it cannot be read or is no case.
pub fn load(path: &Path) -> Result<Machine> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| bad_machine(format!("{shown}: {e}")))?;
    parse(&text).with_context(|| shown.to_string())
}

/// Reads a case. Its name becomes the machine's.
///
/// # Errors
/// [`crate::fault::BadMachine`] where it is no case.
pub fn parse(text: &str) -> Result<Machine> {
    let case: Case =
        serde_json::from_str(text).map_err(|e| bad_machine(format!("no case: {e}")))?;
    let mut tables = Vec::new();
    if let Some(entries) = &case.srat {
        tables.push(srat(&OEM, case.srat_revision, entries));
    }
    if let Some(rows) = &case.slit {
        if rows.is_empty() {
            return Err(bad_machine("an SLIT without rows"));
        }
        tables.push(slit(&OEM, case.srat_revision, rows));
    }
    Ok(Machine { qemu: case.qemu, append: case.append, tables, ..Machine::new(case.name) })
}

impl<'de> Deserialize<'de> for SratEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = SratEntry;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(r#"["apic", ID, PXM], ["x2apic", ID, PXM] or ["mem", PXM, START, END, FLAGS]"#)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entry: A) -> Result<SratEntry, A::Error> {
        let kind: String = next(&mut entry, 0)?;
        let entry = match kind.as_str() {
            "apic" => {
                let (id, pxm) = (next(&mut entry, 1)?, next(&mut entry, 2)?);
                SratEntry::Apic { id, pxm, enabled: true }
            }
            "x2apic" => {
                let (id, pxm) = (next(&mut entry, 1)?, next(&mut entry, 2)?);
                SratEntry::X2apic { id, pxm, enabled: true }
            }
            "mem" => {
                let pxm = next(&mut entry, 1)?;
                let (start, end): (u64, u64) = (next(&mut entry, 2)?, next(&mut entry, 3)?);
                let length = end.checked_sub(start);
                let length =
                    length.ok_or_else(|| A::Error::custom("a range ends before it starts"))?;
                SratEntry::Memory { pxm, start, length, flags: next(&mut entry, 4)? }
            }
            _ => return Err(A::Error::custom(format!("`{kind}` is no kind of SRAT entry"))),
        };
        Ok(entry)
    }
}

/// The entry's next item, of the type wanted.
fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    entry: &mut A,
    place: usize,
) -> Result<T, A::Error> {
    entry.next_element()?.ok_or_else(|| A::Error::invalid_length(place, &EntryVisitor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain() {
        let machine = parse(r#"{"name": "flat", "why": "…", "qemu": ["-m", "1G"]}"#).unwrap();
        assert_eq!(machine.name, "flat");
        assert_eq!(machine.qemu, ["-m", "1G"]);
        assert!(machine.tables.is_empty() && machine.append.is_empty());
    }

    #[test]
    fn tables() {
        let machine = parse(
            r#"{"name": "t", "qemu": [], "append": "hashdist=0", "srat_revision": 2,
                "srat": [["apic", 0, 0], ["mem", 0, 0, 1048576, 1]], "slit": [[10]]}"#,
        )
        .unwrap();
        let [srat, slit] = &machine.tables[..] else { panic!("{:?}", machine.tables) };
        assert_eq!((srat.signature.as_str(), srat.bytes.len()), ("SRAT", 36 + 12 + 16 + 40));
        assert_eq!((srat.bytes[8], slit.bytes[8]), (2, 2));
        assert_eq!(machine.append, "hashdist=0");
    }

    #[test]
    fn what_is_no_case() {
        for (text, said) in [
            ("", "no case: EOF"),
            ("[]", "no case:"),
            (r#"{"name": "x"}"#, "missing field `qemu`"),
            (r#"{"qemu": []}"#, "missing field `name`"),
            (r#"{"name": "x", "qemu": "-m 1G"}"#, "expected a sequence"),
            (r#"{"name": "x", "qemu": [], "srat": [["cpu", 0, 0]]}"#, "`cpu` is no kind"),
            (r#"{"name": "x", "qemu": [], "srat": [["apic", 256, 0]]}"#, "expected u8"),
            (r#"{"name": "x", "qemu": [], "srat": [["apic", 1]]}"#, "invalid length 2"),
            (r#"{"name": "x", "qemu": [], "srat": [["mem", 0, 2, 1, 1]]}"#, "ends before"),
            (r#"{"name": "x", "qemu": [], "srat": [["apic", 1, 2, 3]]}"#, "trailing"),
            (r#"{"name": "x", "qemu": [], "slit": [[10, 256]]}"#, "expected u8"),
            (r#"{"name": "x", "qemu": [], "slit": []}"#, "an SLIT without rows"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.is::<crate::fault::BadMachine>());
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }
}
