//! ACPI tables in files: raw, or those of a case.
//!
//! QEMU mends length and checksum of a table that it is given, so damage in a header does not
//! arrive; the kernel's test option `acpi_patch` is for that.

use std::path::Path;

use anyhow::{Result, anyhow};

use crate::acpi::{HEADER, Table};
use crate::fault::bad_machine;
use crate::map;

/// Reads a table of this signature: a raw one, header included, or with a name that ends in
/// `.json` the one that a corpus case has.
///
/// # Errors
/// [`crate::fault::BadMachine`]: the file cannot be read or is no such table; the text says what is
/// expected.
pub fn load(path: &Path, signature: &str) -> Result<Table> {
    let bytes = match path.extension().is_some_and(|ending| ending == "json") {
        true => of_case(path, signature),
        false => std::fs::read(path).map_err(|error| anyhow!("{}: {error}", path.display())),
    };
    let bytes = bytes.map_err(|error| bad_machine(format!("{signature}: {error:#}")))?;
    check(&bytes, signature)
        .map_err(|why| bad_machine(format!("{signature}: {}: {why}", path.display())))?;
    Ok(Table { signature: signature.to_owned(), bytes })
}

fn of_case(path: &Path, signature: &str) -> Result<Vec<u8>> {
    let table = map::case_table(path, signature)?;
    table.ok_or_else(|| anyhow!("{}: the case has none", path.display()))
}

fn check(bytes: &[u8], signature: &str) -> Result<(), String> {
    let expected =
        format!("expected a raw table, header included, as /sys/firmware/acpi/tables/{signature}");
    if bytes.len() < HEADER {
        return Err(format!("{} bytes, and a header alone has {HEADER}: {expected}", bytes.len()));
    }
    if !bytes.starts_with(signature.as_bytes()) {
        return Err(format!("it starts with \"{}\": {expected}", bytes[..4].escape_ascii()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acpi::{Oem, slit};
    use crate::fault::BadMachine;
    use crate::scratch::Scratch;
    use crate::workspace::root;

    const OEM: Oem = Oem { id: [b'X'; 6], table_id: [b'X'; 8], creator: [b'X'; 4] };

    #[test]
    fn a_raw_table_comes_as_it_is() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("slit.bin");
        let mut bytes = slit(&OEM, 1, &[vec![10]]).bytes;
        bytes.push(0xee);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(load(&path, "SLIT").unwrap(), Table { signature: "SLIT".into(), bytes });
    }

    #[test]
    fn a_case_gives_its_entries_or_the_bytes_beside_it() {
        let corpus = root().join("tests/data/corpus");
        let case = corpus.join("v41-slit-cut-short.json");
        assert!(load(&case, "SRAT").unwrap().bytes.starts_with(b"SRAT"));
        let beside = std::fs::read(corpus.join("v41-slit-cut-short.slit.bin")).unwrap();
        assert_eq!(load(&case, "SLIT").unwrap().bytes, beside);
        let error = load(&corpus.join("v35-range-past-2-to-the-64.json"), "SLIT").unwrap_err();
        assert!(error.to_string().contains("the case has none"), "{error}");
    }

    #[test]
    fn what_is_no_table_is_refused_with_what_is_expected() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("table");
        for (bytes, said) in [
            (&b"SRAT"[..], "4 bytes, and a header alone has 36: expected a raw table"),
            (&[b'A'; 40], "it starts with \"AAAA\": expected a raw table"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = load(&path, "SRAT").unwrap_err();
            assert!(error.is::<BadMachine>());
            let text = error.to_string();
            assert!(text.starts_with("SRAT: ") && text.contains(said), "{text}");
        }
        let error = load(&scratch.path().join("none"), "SRAT").unwrap_err();
        assert!(error.is::<BadMachine>() && error.to_string().contains("No such file"), "{error}");
    }
}
