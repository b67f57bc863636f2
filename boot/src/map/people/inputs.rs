//! What was read: tables with their headers, the memory map, options.

use std::fmt::{Result, Write};

use nearmem::firmware::Header;
use nearmem::firmware::slit::Slit;
use nearmem::firmware::srat::{Body, Srat};

use super::text::{Size, count, wrapped};
use crate::map::build::Built;
use crate::map::input::Input;
use crate::map::tables::{RawTable, Which};

/// Writes the section.
pub fn write(out: &mut dyn Write, built: &Built, input: &Input) -> Result {
    writeln!(out, "Read")?;
    for which in Which::ALL {
        match input.tables.get(which) {
            Some(table) => write_table(out, which, table)?,
            // Most machines have only these two.
            None if matches!(which, Which::Srat | Which::Slit) => {
                writeln!(out, "  {}  none", which.signature())?;
            }
            None => {}
        }
    }
    let bytes: u64 = built.usable.iter().map(|frames| frames.bytes().len()).sum();
    let ranges = count(built.usable.len(), "range");
    let from = match &input.memory {
        Some(memory) => format!("{} of {}", count(memory.regions.len(), "region"), memory.from),
        None => "not known; every enabled memory range of the SRAT counts as RAM".to_owned(),
    };
    let text = format!("{from}; usable: {} in {ranges}", Size(bytes));
    wrapped(out, "  memory map  ", 8, &text)?;
    if !input.words.is_empty() {
        wrapped(out, "  options  ", 8, &input.words)?;
    }
    input.remarks.iter().try_for_each(|remark| wrapped(out, "  note: ", 8, remark))
}

fn write_table(out: &mut dyn Write, which: Which, table: &RawTable) -> Result {
    let header = Header::read(&table.bytes);
    let head = match &header {
        None => format!("{} bytes, too few for a header", table.bytes.len()),
        Some(header) => format!(
            "revision {}, {} bytes, {}, OEM \"{}\" \"{}\" {}",
            header.revision,
            header.length,
            checksum(header, &table.bytes),
            header.oem_id.escape_ascii(),
            header.oem_table_id.escape_ascii(),
            header.oem_revision,
        ),
    };
    wrapped(out, &format!("  {}  ", which.signature()), 8, &head)?;
    let address = table.address.map(|address| format!(", in memory at {address:#x}"));
    let from = format!("{}{}", table.from, address.unwrap_or_default());
    let content = content(which, &table.bytes);
    wrapped(out, "        ", 8, &format!("{content}from {from}"))
}

/// Whether the bytes add up to 0 (ACPI 6.5, 5.2.6).
fn checksum(header: &Header, bytes: &[u8]) -> String {
    let there = usize::try_from(header.length).ok().and_then(|length| bytes.get(..length));
    match there.map(|bytes| bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte))) {
        None => format!("of which only {} are there, checksum unknown", bytes.len()),
        Some(0) => "checksum right".to_owned(),
        Some(sum) => format!("checksum wrong by {sum:#04x}"),
    }
}

/// What is in a table, with a semicolon behind it; nothing where only its own section says it.
fn content(which: Which, bytes: &[u8]) -> String {
    match which {
        Which::Srat => Srat::parse(bytes, &mut |_| ()).map(|srat| records(&srat)),
        Which::Slit => Slit::parse(bytes, &mut |_| ())
            .map(|slit| format!("{0} by {0} distances; ", slit.count())),
        _ => None,
    }
    .unwrap_or_default()
}

/// How many records there are of each sort that counts.
fn records(srat: &Srat<'_>) -> String {
    let mut sorts =
        [(0, "of CPUs"), (0, "of memory"), (0, "of initiators"), (0, "that do not count")];
    for entry in srat.entries() {
        let sort = match entry.body {
            Body::Cpu(cpu) if cpu.enabled => 0,
            Body::Memory(range) if range.enabled => 1,
            Body::Initiator(initiator) if initiator.enabled => 2,
            _ => 3,
        };
        sorts[sort].0 += 1;
    }
    let parts = sorts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<_> = parts.map(|(number, what)| format!("{number} {what}")).collect();
    match &parts[..] {
        [] => "no records; ".to_owned(),
        parts => format!("records: {}; ", parts.join(", ")),
    }
}
