//! The first seed for people: tables on a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::hashdist::Comparison;
use super::placement::{HashTable, Placement};

/// With more nodes than this a table's pages are given as a range instead of node by node.
const MANY: usize = 16;

/// Both boots side by side, and what to look at, as text of many lines.
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    let mut section = |title: &str, table: &Table| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{title}\n\n{table}\n");
    };
    section(
        "Memory of each node in kB, hashdist=0 (before) and hashdist=1 (after):",
        &nodes(comparison),
    );
    section("Hash tables and the nodes that their pages (4 KiB) lie on:", &tables(comparison));
    out + &sentence(comparison)
}

/// A table without lines whose columns of numbers, from the second to this one, stand to the right.
fn table(header: &[&str], last_number: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for column in table.column_iter_mut().take(last_number + 1).skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn nodes(comparison: &Comparison) -> Table {
    let mut table = table(&["Row", "before", "after", "change", "expected"], 4);
    let boots = comparison.hashdist0.nodes.iter().zip(&comparison.hashdist1.nodes);
    for (place, (before, after)) in boots.enumerate() {
        let row = |name: &str| format!("Node {} {name}:", before.id);
        let plain = |name: &str, before: u64, after: u64| {
            let change = signed(after as i64 - before as i64);
            [row(name), before.to_string(), after.to_string(), change, String::new()]
        };
        table.add_row(plain("MemTotal", before.mem_total_kb, after.mem_total_kb));
        table.add_row(plain("MemFree", before.mem_free_kb, after.mem_free_kb));
        let mut used = plain("MemUsed", before.mem_used_kb, after.mem_used_kb);
        used[4] = signed(-comparison.expected_delta_kb[place]);
        table.add_row(used);
    }
    table
}

fn tables(comparison: &Comparison) -> Table {
    let mut table = table(&["Table", "bytes", "before", "after"], 1);
    let after: BTreeMap<&str, &HashTable> =
        comparison.hashdist1.tables.iter().map(|table| (table.name.as_str(), table)).collect();
    for before in &comparison.hashdist0.tables {
        let now = after.get(before.name.as_str());
        table.add_row([
            before.name.clone(),
            before.bytes.to_string(),
            lies(before, &comparison.hashdist0),
            now.map(|now| lies(now, &comparison.hashdist1)).unwrap_or_default(),
        ]);
    }
    table
}

/// Where a table lies, in few words: `linear, node 0`, or the pages of the nodes in order.
fn lies(table: &HashTable, boot: &Placement) -> String {
    let pages: Vec<u64> =
        boot.nodes.iter().map(|node| *table.pages_by_node.get(&node.id).unwrap_or(&0)).collect();
    let holders: Vec<u32> =
        table.pages_by_node.iter().filter(|(_, pages)| **pages > 0).map(|(id, _)| *id).collect();
    let kind = &table.placement;
    match (&holders[..], &pages[..]) {
        ([node], _) => format!("{kind}, node {node}"),
        (_, [first, rest @ ..]) if rest.iter().all(|pages| pages == first) => {
            format!("{kind}, {first} on each node")
        }
        _ if pages.len() > MANY => {
            let (least, most) = (pages.iter().min(), pages.iter().max());
            format!("{kind}, {} to {} on each", least.unwrap_or(&0), most.unwrap_or(&0))
        }
        _ => {
            let pages: Vec<String> = pages.iter().map(u64::to_string).collect();
            format!("{kind}, {}", pages.join("/"))
        }
    }
}

fn sentence(comparison: &Comparison) -> String {
    let (found, expected) = (comparison.node0_delta_kb, comparison.expected_node0_delta_kb);
    let verdict = match found - expected {
        0 => "exactly what the sizes of the tables give".to_owned(),
        off => format!(
            "{expected} kB by the sizes of the tables, so {} kB are of other causes",
            signed(off)
        ),
    };
    let stayed = |name: &str| {
        comparison.hashdist1.tables.iter().any(|table| table.name == name && table.early)
    };
    let moved = comparison.hashdist0.tables.iter().filter(|t| t.early && !stayed(&t.name));
    let bytes: u64 = moved.map(|table| table.bytes).sum();
    format!(
        "Node 0 has {found} kB less used with hashdist=1, {verdict}: before, tables of {} kB that \
         are taken before the page allocator exists lay on node 0 alone; now every node holds its \
         share.\n",
        bytes / 1024
    )
}

fn signed(number: i64) -> String {
    match number {
        0 => "0".into(),
        _ => format!("{number:+}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::placement::NodeMemory;

    fn boot(used: u64, placement: &str, pages: [u64; 2]) -> Placement {
        let node = |id| NodeMemory {
            id,
            mem_total_kb: 1 << 20,
            mem_free_kb: (1 << 20) - used,
            mem_used_kb: used,
        };
        let table = HashTable {
            name: "Dentry cache".into(),
            bytes: 2 << 20,
            early: placement == "linear",
            pages_by_node: [(0, pages[0]), (1, pages[1])].into(),
            placement: placement.into(),
            address: 0,
        };
        Placement { nodes: vec![node(0), node(1)], tables: vec![table] }
    }

    #[test]
    fn side_by_side() {
        let comparison =
            Comparison::new(boot(3000, "linear", [512, 0]), boot(1988, "vmalloc", [256, 256]))
                .unwrap();
        let text = text(&comparison);
        let line = |start: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(start));
            line.unwrap_or_else(|| panic!("{text}"))
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(line("Node 0 MemUsed"), "Node 0 MemUsed: 3000 1988 -1012 -1012");
        assert_eq!(line("Node 0 MemTotal"), "Node 0 MemTotal: 1048576 1048576 0");
        assert_eq!(line("Dentry"), "Dentry cache 2097152 linear, node 0 vmalloc, 256 on each node");
        assert!(text.contains("1012 kB less used with hashdist=1, exactly what"), "{text}");
    }

    #[test]
    fn a_difference_is_said() {
        let comparison =
            Comparison::new(boot(3000, "linear", [512, 0]), boot(2000, "vmalloc", [300, 212]))
                .unwrap();
        let text = text(&comparison);
        assert!(text.contains("so -12 kB are of other causes"), "{text}");
        assert!(text.contains("vmalloc, 300/212"), "{text}");
    }
}
