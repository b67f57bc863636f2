//! Memory by node with its holes, ranges that are hot-pluggable or non-volatile, the SRAT's records.

use std::fmt::{Result, Write};

use nearmem::PhysRange;
use nearmem::firmware::srat::{Body, Entry, MemoryAffinity, Srat};

use super::section;
use super::text::{Size, wrapped};
use crate::map::build::{Built, Node};
use crate::map::input::Input;
use crate::map::tables::Which;

/// Writes each node's usable ranges, and what lies between them.
pub fn memory(out: &mut dyn Write, built: &Built) -> Result {
    section(out, "Memory")?;
    for node in &built.nodes {
        of_node(out, node, built)?;
    }
    if !built.merges.is_empty() {
        section(out, "Ranges of one node that are joined")?;
    }
    built.merges.iter().try_for_each(|merge| wrapped(out, "  ", 6, &merge.to_string()))
}

fn of_node(out: &mut dyn Write, node: &Node, built: &Built) -> Result {
    let mut name = format!("node {}", node.id);
    let mut before: Option<PhysRange> = None;
    let mut line = |range: PhysRange, what: &str| {
        let (text, size) = (range.to_string(), Size(range.len()).to_string());
        let line = format!("  {:<9}  {text:<39} {size:>12}  {what}", std::mem::take(&mut name));
        writeln!(out, "{}", line.trim_end())
    };
    for &range in &node.memory {
        if let Some(before) = before {
            let hole = PhysRange { start: before.end, end: range.start };
            let others = built.usable.iter().any(|frames| frames.bytes().overlaps(hole));
            line(hole, if others { "not its own" } else { "hole" })?;
        }
        line(range, "")?;
        before = Some(range);
    }
    if node.memory.is_empty() { writeln!(out, "  {name:<9}  none") } else { Ok(()) }
}

/// Writes the SRAT's ranges that are hot-pluggable or non-volatile, and how much of each is there.
pub fn windows(out: &mut dyn Write, built: &Built, input: &Input) -> Result {
    let mut first = true;
    for (at, entry) in entries(input).enumerate() {
        let Some((memory, range)) = window(&entry) else { continue };
        if std::mem::take(&mut first) {
            section(out, "Hot-pluggable and non-volatile ranges")?;
        }
        let node = match built.record_nodes.get(at).copied().flatten() {
            Some(node) => format!("node {node}"),
            None => format!("domain {}", memory.pxm),
        };
        let here = built.usable.iter().map(|frames| frames.bytes().intersect(range).len());
        let kind = match (memory.hotplug, memory.nonvolatile) {
            (true, true) => "hot-pluggable, non-volatile",
            (true, false) => "hot-pluggable",
            _ => "non-volatile",
        };
        let text =
            format!("{range} {}, {kind}, usable now: {}", Size(range.len()), Size(here.sum()));
        wrapped(out, &format!("  {node:<9}  "), 13, &text)?;
    }
    Ok(())
}

fn window(entry: &Entry) -> Option<(MemoryAffinity, PhysRange)> {
    match entry.body {
        Body::Memory(memory) if memory.enabled && (memory.hotplug || memory.nonvolatile) => {
            memory.range().map(|range| (memory, range))
        }
        _ => None,
    }
}

/// Writes every record of the SRAT.
pub fn records(out: &mut dyn Write, built: &Built, input: &Input) -> Result {
    section(out, "Records of the SRAT")?;
    for (at, entry) in entries(input).enumerate() {
        let node = built.record_nodes.get(at).copied().flatten();
        let off = if entry.is_enabled() { "" } else { " (does not count)" };
        let Entry { offset, record, .. } = entry;
        let start = format!("  {record:>4} at {offset:<#6x}  ");
        wrapped(out, &start, start.len(), &format!("{}{off}", entry.line(node)))?;
    }
    Ok(())
}

fn entries(input: &Input) -> impl Iterator<Item = Entry> {
    let bytes = input.tables.bytes(Which::Srat);
    let srat = bytes.and_then(|bytes| Srat::parse(bytes, &mut |_| ()));
    srat.map(|srat| srat.entries()).into_iter().flatten()
}
