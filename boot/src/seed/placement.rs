//! What the kernel says of its nodes and hash tables: its fact of type `placement`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One node's memory in kB, as the meminfo of 2007 has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMemory {
    /// The node's id.
    pub id: u32,
    /// Present memory in kB, that is, with what was taken before the page allocator existed.
    pub mem_total_kb: u64,
    /// Free memory in kB.
    pub mem_free_kb: u64,
    /// `mem_total_kb` less `mem_free_kb`.
    pub mem_used_kb: u64,
}

/// One hash table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashTable {
    /// Its name in the boot log.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it was taken from boot memory, before the page allocator existed.
    pub early: bool,
    /// How many of its 4 KiB pages are on each node, by the node's id.
    pub pages_by_node: BTreeMap<u32, u64>,
    /// `linear`, `vmalloc` or `vmalloc hugepage`.
    #[serde(default, skip_serializing)]
    pub placement: String,
    /// The virtual address of its first byte.
    #[serde(default, skip_serializing)]
    pub address: u64,
}

/// All nodes, and all hash tables in the order in which they were allocated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The online nodes by id.
    pub nodes: Vec<NodeMemory>,
    /// The tables.
    pub tables: Vec<HashTable>,
}

impl Placement {
    /// Reads the kernel's fact.
    ///
    /// # Errors
    /// It is not shaped so.
    pub fn from_fact(fact: Value) -> Result<Placement> {
        serde_json::from_value(fact).context("the kernel's `placement` is not as agreed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn more_comes_in_than_goes_out() {
        let fact = json!({
            "type": "placement",
            "nodes": [{"id": 0, "mem_total_kb": 8, "mem_free_kb": 4, "mem_used_kb": 4}],
            "tables": [{"name": "futex", "entries": 256, "order": 2, "bytes": 16384,
                        "placement": "linear", "early": false, "address": 4096,
                        "pages_by_node": {"0": 4}}],
        });
        let placement = Placement::from_fact(fact).unwrap();
        assert_eq!(placement.tables[0].pages_by_node[&0], 4);
        assert_eq!(placement.tables[0].placement, "linear");
        assert_eq!(
            serde_json::to_value(&placement.tables[0]).unwrap(),
            json!({"name": "futex", "bytes": 16384, "early": false, "pages_by_node": {"0": 4}})
        );
        assert!(Placement::from_fact(json!({"nodes": []})).is_err());
    }
}
