//! The bytes of a table at a finding's place.

use std::fmt::{Result, Write};

use nearmem::finding::Place;

use crate::map::input::Input;
use crate::map::tables::Which;

/// Bytes on a line.
const LINE: usize = 16;
/// Bytes at most: a memory record of the SRAT has 40.
const MOST: usize = 3 * LINE;

/// Writes the bytes at a place, as far as they are there: a record whole, 16 bytes of anything else.
pub fn write(out: &mut dyn Write, place: &Place, input: &Input) -> Result {
    let Some((which, offset, bytes)) = at(place, input) else { return Ok(()) };
    let length = match place.record {
        Some(_) => record_length(which, bytes),
        None => LINE,
    };
    let shown = &bytes[..length.min(MOST).min(bytes.len())];
    for (line, bytes) in shown.chunks(LINE).enumerate() {
        let hex: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = bytes.iter().map(|&byte| letter(byte)).collect();
        writeln!(out, "      {:04x}  {:<47}  {text}", offset + line * LINE, hex.join(" "))?;
    }
    if length > shown.len() {
        writeln!(out, "            ... {} bytes in all", length)?;
    }
    Ok(())
}

/// The bytes from a place on; `None` when it is not in a table, or behind its end.
fn at<'a>(place: &Place, input: &'a Input) -> Option<(Which, usize, &'a [u8])> {
    let which = Which::of(place.table?)?;
    let offset = usize::try_from(place.offset?).ok()?;
    let bytes = input.tables.bytes(which)?.get(offset..)?;
    (!bytes.is_empty()).then_some((which, offset, bytes))
}

/// The length that a record says it has: a byte behind its type, or what the table has instead.
fn record_length(which: Which, bytes: &[u8]) -> usize {
    let number = |range: std::ops::Range<usize>| {
        let bytes = bytes.get(range).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
    };
    let length = match which {
        Which::Srat | Which::Madt => number(1..2),
        Which::Cedt => number(2..4),
        Which::Hmat => number(4..8),
        Which::Slit => LINE,
    };
    // A length that cannot be is what is wrong: its place is seen in the first bytes.
    length.max(8)
}

fn letter(byte: u8) -> char {
    if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' }
}
