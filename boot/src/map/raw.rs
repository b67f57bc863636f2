//! Raw tables: bytes with a header (ACPI 6.5, 5.2.6).

use std::path::Path;

use anyhow::{Result, ensure};

use super::acpidump;
use super::source::Source;
use super::tables::{RawTable, Which};

/// The signature of a raw table; `None` for what is none. The highest byte of a table's length is
/// 0, which text has nowhere. What a root pointer (`RSD PTR `) has instead is known, too.
pub fn signature(bytes: &[u8]) -> Option<String> {
    if bytes.starts_with(b"RSD PTR ") {
        return Some("RSDP".to_owned());
    }
    let (signature, length) = (bytes.get(..4)?, bytes.get(4..8)?);
    let letters = signature.iter().all(|byte| byte.is_ascii_graphic());
    (letters && length[3] == 0).then(|| String::from_utf8_lossy(signature).into_owned())
}

/// The table in a file that is said to have one of this kind: raw, or the text of a dump. What is
/// neither is taken as it is, so that its faults are found.
pub fn table(which: Which, source: Source) -> RawTable {
    let dumped = match signature(&source.bytes) {
        Some(_) => Vec::new(),
        None => acpidump::parse(&source.text()),
    };
    let dumped = dumped.into_iter().find(|table| Which::of(&table.signature) == Some(which));
    let address = dumped.as_ref().map(|table| table.address);
    let bytes = dumped.map_or(source.bytes, |table| table.bytes);
    RawTable { bytes, from: source.name, address }
}

/// The tables in a folder, under the names that Linux and acpidump give them.
///
/// # Errors
/// There is none, or one cannot be read.
pub fn folder(path: &Path) -> Result<Vec<(Which, RawTable)>> {
    let mut tables = Vec::new();
    for which in Which::ALL {
        let (upper, lower) = (which.signature(), which.signature().to_lowercase());
        let names = [upper.to_owned(), format!("{upper}1"), format!("{lower}.dat")];
        let mut paths = names.iter().map(|name| path.join(name));
        if let Some(file) = paths.find(|path| path.is_file()) {
            tables.push((which, table(which, Source::read(&file)?)));
        }
    }
    ensure!(
        !tables.is_empty(),
        "{}: no table in this folder: expected files SRAT, SLIT, HMAT, APIC, CEDT, or srat.dat and \
         so on",
        path.display()
    );
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_signature_and_text_has_none() {
        let read = |bytes: &[u8]| signature(bytes);
        assert_eq!(read(b"SRAT\x30\x01\0\0\x01"), Some("SRAT".to_owned()));
        assert_eq!(read(b"RSD PTR \x8fBOCHS"), Some("RSDP".to_owned()));
        for bytes in [&b"SRAT @ 0x7FE2166A"[..], b"SRAT", b"", b"S\0R\0A\0T\0", b"\0\0\0\0\0\0\0\0"]
        {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_dump_will_do_for_a_table_and_anything_else_stays_as_it_is() {
        let source = |bytes: &[u8]| Source { name: "x".into(), bytes: bytes.to_vec() };
        let dumped = table(Which::Slit, source(b"SRAT @ 0x1\n0: 01\nSLIT @ 0x2\n0: 02\n"));
        assert_eq!((&dumped.bytes[..], dumped.address), (&[2][..], Some(2)));
        assert_eq!(table(Which::Slit, source(b"what")).bytes, b"what");
    }
}
