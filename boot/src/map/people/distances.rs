//! Distances between nodes, and the order in which each node looks for memory.

use std::fmt::{Result, Write};

use nearmem::NodeId;

use super::grid::grid;
use super::section;
use super::text::{Runs, wrapped};
use crate::map::build::Built;

/// Writes the section on distances.
pub fn write(out: &mut dyn Write, built: &Built) -> Result {
    section(out, "Distances, from the node of the row")?;
    let nodes: Vec<NodeId> = built.nodes.iter().map(|node| node.id).collect();
    let cell = |row: usize, column: usize| built.distances.get(row)?.get(column).copied();
    grid(out, &nodes, &nodes, &|row, column| cell(row, column).map(u32::from))
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
