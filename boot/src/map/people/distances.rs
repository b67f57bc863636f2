//! Distances between nodes, and the order in which each node looks for memory.
//!
//! A matrix while it fits on a line; for more nodes, from each node the nodes at each distance.

use std::collections::BTreeMap;
use std::fmt::{Result, Write};

use super::section;
use super::text::{Runs, WIDTH, wrapped};
use crate::map::build::Built;

/// Columns in front of a row's distances, and of each distance.
const LABEL: usize = 8;
const CELL: usize = 4;

/// Writes the section on distances.
pub fn write(out: &mut dyn Write, built: &Built) -> Result {
    if LABEL + CELL * built.nodes.len() <= WIDTH {
        section(out, "Distances, from the node of the row")?;
        matrix(out, built)
    } else {
        section(out, "Distances: from each node, the distance and all nodes at it")?;
        lists(out, built)
    }
}

fn matrix(out: &mut dyn Write, built: &Built) -> Result {
    write!(out, "{:LABEL$}", "")?;
    for node in &built.nodes {
        write!(out, "{:>CELL$}", node.id)?;
    }
    writeln!(out)?;
    for (node, row) in built.nodes.iter().zip(&built.distances) {
        write!(out, "  {:>4}  ", node.id)?;
        for distance in row {
            write!(out, "{distance:>CELL$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn lists(out: &mut dyn Write, built: &Built) -> Result {
    for (node, row) in built.nodes.iter().zip(&built.distances) {
        let mut at: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
        for (to, &distance) in built.nodes.iter().zip(row) {
            at.entry(distance).or_default().push(to.id.0.into());
        }
        let text: Vec<_> =
            at.iter().map(|(distance, nodes)| format!("{distance}: {}", Runs(nodes))).collect();
        wrapped(out, &format!("  {:>4}  ", node.id), 10, &text.join("   "))?;
    }
    Ok(())
}

/// Writes the section on the order of memory, unless there is one node only.
pub fn fallback_orders(out: &mut dyn Write, built: &Built) -> Result {
    if built.nodes.len() < 2 {
        return Ok(());
    }
    section(out, "Memory for each node comes from these, in this order")?;
    for (node, order) in built.nodes.iter().zip(&built.fallback_order) {
        let order: Vec<u32> = order.iter().map(|node| node.0.into()).collect();
        wrapped(out, &format!("  {:>4}  ", node.id), 10, &Runs(&order).to_string())?;
    }
    Ok(())
}
