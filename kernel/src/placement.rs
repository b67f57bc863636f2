//! Where memory went: per node in the rows of 2007, and where each hash table's pages lie.

use alloc::string::ToString;
use alloc::vec::Vec;

use nearmem::report::collect::node_memory;
use nearmem::report::figures::kb;
use serde_json::{Map, Value, json};

use crate::Kernel;
use crate::tables::Table;

/// One table for programs.
pub fn table(table: &Table) -> Value {
    let info = table.info();
    let pages: Map<_, _> =
        table.pages_by_node().map(|(node, pages)| (node.to_string(), json!(pages))).collect();
    json!({
        "name": info.name,
        "entries": info.entries,
        "order": info.order,
        "bytes": info.bytes,
        "placement": info.placement.name(),
        "early": info.early,
        "address": info.address.0,
        "pages_by_node": pages,
    })
}

/// The line for programs. The caller has drained the pagesets.
pub fn placement(kernel: &Kernel) -> Value {
    let nodes: Vec<Value> = kernel
        .map
        .online()
        .iter()
        .map(|node| {
            let figures = node_memory(kernel.memory, node);
            json!({
                "id": node.0,
                "mem_total_kb": kb(figures.present),
                "mem_free_kb": kb(figures.free),
                "mem_used_kb": kb(figures.used()),
            })
        })
        .collect();
    let tables: Vec<Value> = kernel.tables.iter().map(table).collect();
    json!({"type": "placement", "nodes": nodes, "tables": tables})
}
