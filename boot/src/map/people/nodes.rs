//! The nodes: a line for each, with domain, memory and CPUs.

use std::fmt::{Result, Write};

use super::section;
use super::text::{Runs, Size, count, wrapped};
use crate::map::build::{Built, Node};

/// Writes the section.
pub fn write(out: &mut dyn Write, built: &Built) -> Result {
    section(out, "Nodes")?;
    writeln!(out, "  node  domain     memory  ranges  CPUs  APIC ids")?;
    for node in &built.nodes {
        line(out, node)?;
    }
    for (node, pxm) in &built.only_possible {
        let pxm = pxm.map(|pxm| pxm.to_string()).unwrap_or_default();
        writeln!(out, "  {node:>4}  {pxm:>6}  nothing that comes up")?;
    }
    if built.uncovered_bytes > 0 {
        let size = Size(built.uncovered_bytes);
        writeln!(out, "  Usable memory in no range of the SRAT: {size}")?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, node: &Node) -> Result {
    let pxm = node.pxm.map_or("-".to_owned(), |pxm| pxm.to_string());
    let bytes: u64 = node.memory.iter().map(|range| range.len()).sum();
    let ids: Vec<u32> = node.apic_ids.iter().map(|apic| apic.0).collect();
    let memory = if bytes == 0 { "-".to_owned() } else { Size(bytes).to_string() };
    let ranges = node.memory.len();
    let start = format!("  {:>4}  {pxm:>6} {memory:>10}  {ranges:>6} {:>5}  ", node.id, ids.len());
    let initiator = if node.initiator { " and a generic initiator" } else { "" };
    let none = if ids.is_empty() { "-" } else { "" };
    let hang = start.len();
    wrapped(out, &start, hang, &format!("{}{none}{initiator}", Runs(&ids)))
}

/// How many nodes there are, and with how much memory and how many CPUs: present ones, where a MADT
/// says which.
pub fn summary(built: &Built) -> String {
    let ranges = built.nodes.iter().flat_map(|node| &node.memory);
    let bytes: u64 = ranges.map(|range| range.len()).sum();
    let by_srat = || built.nodes.iter().map(|node| node.apic_ids.len()).sum();
    let cpus = built.cpus.as_ref().map_or_else(by_srat, |cpus| cpus.listed.present.len());
    format!("{}, {}, {}", count(built.nodes.len(), "node"), Size(bytes), count(cpus, "CPU"))
}
