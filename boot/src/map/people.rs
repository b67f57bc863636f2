//! The node map as a report for people.

use std::fmt::{self, Display, Write};

use nearmem::firmware::slit::Slit;
use nearmem::firmware::srat::{Body, Entry, Srat};
use nearmem::report::numactl;
use nearmem::{ApicId, NodeSet, PhysRange};

use super::build::{Built, Node};
use super::input::Input;

/// The whole report; with `records`, every record of the SRAT as well.
pub fn report(built: &Built, input: &Input, records: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_report(&mut out, built, input, records);
    out
}

fn write_report(out: &mut String, built: &Built, input: &Input, records: bool) -> fmt::Result {
    tables(out, built, input, records)?;
    for node in &built.nodes {
        writeln!(out)?;
        write_node(out, node, built)?;
    }
    rest(out, built)?;
    writeln!(out)?;
    let online: NodeSet = built.nodes.iter().map(|node| node.id).collect();
    let place = |id| built.nodes.iter().position(|node| node.id == id);
    numactl::distances(out, &online, &|from, to| {
        let cell = place(from).zip(place(to)).map(|(row, column)| built.distances[row][column]);
        cell.unwrap_or_default()
    })?;
    findings(out, built)
}

fn tables(out: &mut String, built: &Built, input: &Input, records: bool) -> fmt::Result {
    let srat = input.srat.as_deref().and_then(|bytes| Srat::parse(bytes, &mut |_| ()));
    match &srat {
        None => writeln!(out, "SRAT: none")?,
        Some(srat) => {
            let header = srat.header();
            let (revision, length) = (header.revision, header.length);
            writeln!(out, "SRAT: revision {revision}, {length} bytes, {}", count(srat))?;
        }
    }
    match input.slit.as_deref().map(|bytes| Slit::parse(bytes, &mut |_| ())) {
        None => writeln!(out, "SLIT: none")?,
        Some(None) => writeln!(out, "SLIT: not usable")?,
        Some(Some(slit)) => writeln!(out, "SLIT: {0} by {0} distances", slit.count())?,
    }
    let bytes: u64 = built.usable.iter().map(|frames| frames.bytes().len()).sum();
    writeln!(out, "Usable memory: {} in {} ranges", Size(bytes), built.usable.len())?;
    if !built.merges.is_empty() {
        writeln!(out)?;
    }
    for merge in &built.merges {
        writeln!(out, "{merge}")?;
    }
    let entries = srat.iter().flat_map(Srat::entries).filter(|_| records);
    for (at, entry) in entries.enumerate() {
        if at == 0 {
            writeln!(out, "\nRecords:")?;
        }
        let node = built.record_nodes.get(at).copied().flatten();
        let off = if entry.is_enabled() { "" } else { " (does not count)" };
        let Entry { offset, record, .. } = entry;
        writeln!(out, "  {record:>4} at {offset:#06x}  {}{off}", entry.line(node))?;
    }
    Ok(())
}

/// How many records there are of each sort that counts.
fn count(srat: &Srat<'_>) -> impl Display {
    let (mut cpus, mut memory, mut initiators, mut other) = (0, 0, 0, 0);
    for entry in srat.entries() {
        let counter = match entry.body {
            Body::Cpu(cpu) if cpu.enabled => &mut cpus,
            Body::Memory(range) if range.enabled => &mut memory,
            Body::Initiator(initiator) if initiator.enabled => &mut initiators,
            _ => &mut other,
        };
        *counter += 1;
    }
    format!(
        "records: {cpus} of CPUs, {memory} of memory, {initiators} of initiators, {other} \
         that do not count"
    )
}

fn write_node(out: &mut String, node: &Node, built: &Built) -> fmt::Result {
    write!(out, "Node {}", node.id)?;
    if let Some(pxm) = node.pxm {
        write!(out, " (domain {pxm})")?;
    }
    let bytes: u64 = node.memory.iter().map(|range| range.len()).sum();
    write!(out, ": {}", Size(bytes))?;
    match &node.apic_ids[..] {
        [] => write!(out, ", no CPUs")?,
        [one] => write!(out, ", 1 CPU, APIC {}", one.0)?,
        ids => write!(out, ", {} CPUs, APIC {}", ids.len(), Ids(ids))?,
    }
    writeln!(out, "{}", if node.initiator { ", an initiator" } else { "" })?;
    let mut before: Option<PhysRange> = None;
    for &range in &node.memory {
        if let Some(before) = before {
            let hole = PhysRange { start: before.end, end: range.start };
            let others = built.usable.iter().any(|frames| frames.bytes().overlaps(hole));
            let what = if others { "not its own" } else { "hole" };
            writeln!(out, "  {:<48} {:>12}", format!("{hole} {what}"), Size(hole.len()))?;
        }
        writeln!(out, "  {:<48} {:>12}", range.to_string(), Size(range.len()))?;
        before = Some(range);
    }
    Ok(())
}

/// What is on no node.
fn rest(out: &mut String, built: &Built) -> fmt::Result {
    if !built.only_possible.is_empty() {
        writeln!(out)?;
    }
    for (node, pxm) in &built.only_possible {
        let pxm = pxm.map(|pxm| format!(" (domain {pxm})")).unwrap_or_default();
        writeln!(out, "Node {node}{pxm}: nothing that comes up")?;
    }
    if built.uncovered_bytes > 0 {
        writeln!(out, "\nUsable memory in no range of the SRAT: {}", Size(built.uncovered_bytes))?;
    }
    Ok(())
}

fn findings(out: &mut String, built: &Built) -> fmt::Result {
    if built.findings.is_empty() {
        return writeln!(out, "\nNothing to find fault with.");
    }
    writeln!(out, "\nFindings:")?;
    for finding in &built.findings {
        let severity = finding.kind.severity().name();
        writeln!(out, "  {severity:<8} {:<28} {finding}", finding.kind.name())?;
    }
    Ok(())
}

/// Bytes in the largest unit that leaves a whole number or at least 10.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
        let (mut value, mut unit) = (self.0, 0);
        while unit + 1 < units.len() && value > 0 && (value % 1024 == 0 || value >= 10 * 1024) {
            value /= 1024;
            unit += 1;
        }
        f.pad(&format!("{value} {}", units[unit]))
    }
}

/// Ascending ids as a list of ranges.
struct Ids<'a>(&'a [ApicId]);

impl Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in self.0.chunk_by(|a, b| b.0.checked_sub(a.0) == Some(1)).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match run {
                [first, .., last] => write!(f, "{comma}{}-{}", first.0, last.0)?,
                [one] => write!(f, "{comma}{}", one.0)?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1 << 30, "1 GiB"),
            (0x9f000, "636 KiB"),
            ((1 << 31) - 4096, "2047 MiB"),
            (3000, "3000 bytes"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }

    #[test]
    fn a_report_has_nodes_ranges_distances_and_findings() {
        let case = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/corpus/");
        let case = format!("{case}v31-nodes-interleaved-2-4-6-8.json");
        let input = Input::of_case(case.as_ref()).unwrap();
        let text = report(&crate::map::build::build(&input), &input, true);
        for line in [
            "SRAT: revision 2, 272 bytes, records: 4 of CPUs, 4 of memory",
            "Node 1 (domain 1): 3584 MiB, 2 CPUs, APIC 2-3",
            "  [mem 0x0009f000-0x000fffff] hole",
            "  [mem 0x80000000-0xffffffff] not its own",
            "   0 at 0x0030  SRAT: PXM 0 -> APIC 0x00 -> Node 0",
            "  1:  20  10 ",
            "  note     node-interleaved",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn ids_are_ranges() {
        let ids = [0, 1, 2, 5, 8, 9].map(ApicId);
        assert_eq!(Ids(&ids).to_string(), "0-2,5,8-9");
    }
}
