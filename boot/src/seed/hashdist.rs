//! The first seed: boots with hashdist=0 and hashdist=1, side by side.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Serialize;

use super::expect;
use super::placement::Placement;
use crate::machine::{Machine, NodeSpec, nodes, size};
use crate::qemu::{self, BootRequest, Exit};
use crate::setup::progress::Progress;

/// Nodes of the seed's own box.
pub const NODES: u32 = 8;
/// Memory of each of its nodes, in bytes.
pub const NODE_MEMORY: u64 = 3_407_488 * size::KIB;
/// CPUs that the box is given here: the seed is about memory, and each CPU costs time.
const CPUS: u32 = 2;

/// The seed's box, or one of other nodes, or of other memory (bytes, of all nodes together).
///
/// # Errors
/// [`crate::fault::BadMachine`] for a machine that cannot be.
pub fn machine(nodes: Option<u32>, memory: Option<u64>) -> Result<Machine> {
    Ok(Machine::with_nodes("seed hashdist", box_nodes(nodes, memory, CPUS)?))
}

/// The nodes of the seed's box, or others, with this memory (bytes, of all together) and as many CPUs.
///
/// # Errors
/// As [`machine`].
pub fn box_nodes(nodes: Option<u32>, memory: Option<u64>, cpus: u32) -> Result<Vec<NodeSpec>> {
    let count = nodes.unwrap_or(NODES);
    let memory = memory.unwrap_or(NODE_MEMORY.saturating_mul(u64::from(count.max(1))));
    nodes::spread(count, memory, cpus)
}

/// Both boots and what follows from them; its JSON is the contract of `seed hashdist --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// What the kernel reports with hashdist=0.
    pub hashdist0: Placement,
    /// The same with hashdist=1.
    pub hashdist1: Placement,
    /// Used memory of node 0 with hashdist=0 less that with hashdist=1, in kB.
    pub node0_delta_kb: i64,
    /// What it must be.
    pub expected_node0_delta_kb: i64,
    /// What it must be for each node, in kB.
    pub expected_delta_kb: Vec<i64>,
}

impl Comparison {
    /// Puts two boots side by side.
    ///
    /// # Errors
    /// They report no node or no table, or not the same ones.
    pub fn new(hashdist0: Placement, hashdist1: Placement) -> Result<Comparison> {
        let ids = |boot: &Placement| boot.nodes.iter().map(|node| node.id).collect::<Vec<_>>();
        if ids(&hashdist0).is_empty() || ids(&hashdist0) != ids(&hashdist1) {
            bail!("the two boots report other nodes than each other, or none");
        }
        let sizes = |boot: &Placement| {
            let tables = boot.tables.iter().map(|table| (table.name.clone(), table.bytes));
            tables.collect::<BTreeSet<_>>()
        };
        if sizes(&hashdist0).is_empty() || sizes(&hashdist0) != sizes(&hashdist1) {
            bail!("the two boots report other hash tables than each other, or none");
        }
        let expected_delta_kb = expect::delta_kb(&hashdist0, &hashdist1);
        let mut comparison = Comparison {
            hashdist0,
            hashdist1,
            node0_delta_kb: 0,
            expected_node0_delta_kb: expected_delta_kb[0],
            expected_delta_kb,
        };
        comparison.node0_delta_kb = comparison.delta_kb(0);
        Ok(comparison)
    }

    /// How much less the node at this place has used with hashdist=1, in kB.
    pub fn delta_kb(&self, place: usize) -> i64 {
        let used = |boot: &Placement| boot.nodes[place].mem_used_kb as i64;
        used(&self.hashdist0) - used(&self.hashdist1)
    }
}

/// What came of it: the comparison, or how a boot ended that did not end well.
pub type Attempt = std::result::Result<Comparison, Exit>;

/// Boots twice and compares.
///
/// # Errors
/// QEMU cannot be started, or the kernel's report is not as agreed.
pub fn compare(request: &BootRequest<'_>) -> Result<Attempt> {
    let mut placements = Vec::with_capacity(2);
    for hashdist in ["hashdist=0", "hashdist=1"] {
        let request = BootRequest { append: hashdist.into(), ..request.clone() };
        match placement(&request)? {
            Ok(placement) => placements.push(placement),
            Err(exit) => return Ok(Err(exit)),
        }
    }
    match <[Placement; 2]>::try_from(placements) {
        Ok([before, after]) => Comparison::new(before, after).map(Ok),
        Err(_) => bail!("two boots were asked for"),
    }
}

/// One boot's placement.
fn placement(request: &BootRequest<'_>) -> Result<std::result::Result<Placement, Exit>> {
    let _progress = Progress::start(&format!("boots with {}", request.append));
    let mut found = None;
    let outcome = qemu::boot(
        request,
        |_| {},
        |fact| {
            if fact["type"] == "placement" {
                found = Some(fact);
            }
        },
    )?;
    match (outcome.exit, found) {
        (Exit::Success, Some(fact)) => Placement::from_fact(fact).map(Ok),
        (Exit::Success, None) => {
            Ok(Err(Exit::Failure("the kernel did not say where its tables lie".into())))
        }
        (exit, _) => Ok(Err(exit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::placement::{HashTable, NodeMemory};

    fn boot(used: [u64; 2], pages: [u64; 2], early: bool) -> Placement {
        let node = |id: u32| NodeMemory {
            id,
            mem_total_kb: 1 << 20,
            mem_free_kb: (1 << 20) - used[id as usize],
            mem_used_kb: used[id as usize],
        };
        let table = HashTable {
            name: "Dentry cache".into(),
            bytes: 2 << 20,
            early,
            pages_by_node: [(0, pages[0]), (1, pages[1])].into(),
            placement: String::new(),
            address: 0,
        };
        Placement { nodes: vec![node(0), node(1)], tables: vec![table] }
    }

    #[test]
    fn the_default_is_the_seeds_box() {
        let machine = machine(None, None).unwrap();
        assert_eq!(machine.nodes.len(), 8);
        assert!(machine.nodes.iter().all(|node| node.memory == NODE_MEMORY));
        let cpus: Vec<_> = machine.nodes.iter().map(|node| node.cpus.len()).collect();
        assert_eq!(cpus, [1, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(machine.memory, Some(26621 << 20));
        assert!(super::machine(Some(0), None).is_err());
    }

    #[test]
    fn json_is_the_contract() {
        let before = boot([3000, 100], [512, 0], true);
        let after = boot([1984, 1124], [256, 256], false);
        let value = serde_json::to_value(Comparison::new(before, after).unwrap()).unwrap();
        let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        let want = [
            "hashdist0",
            "hashdist1",
            "node0_delta_kb",
            "expected_node0_delta_kb",
            "expected_delta_kb",
        ];
        assert_eq!(keys, want);
        assert_eq!(value["node0_delta_kb"], 1016);
        // Half of 2 MiB, less a leaf, a directory and a frame of records.
        assert_eq!(value["expected_delta_kb"], serde_json::json!([1024 - 12, -1024]));
        assert_eq!(value["hashdist1"]["tables"][0]["pages_by_node"]["1"], 256);
    }

    #[test]
    fn boots_of_other_machines_do_not_compare() {
        let mut other = boot([0, 0], [0, 0], true);
        other.nodes.pop();
        assert!(Comparison::new(boot([0, 0], [0, 0], true), other).is_err());
        let mut other = boot([0, 0], [0, 0], true);
        other.tables[0].bytes /= 2;
        assert!(Comparison::new(boot([0, 0], [0, 0], true), other.clone()).is_err());
        other.tables.clear();
        assert!(Comparison::new(other.clone(), other).is_err());
    }
}
