//! The report for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::layout::Role;
use super::report::{Region, Report, Share, Site};

/// How many places of one kind are told apart in a line.
const OFFSETS: usize = 8;

/// A function and a line of source for an instruction, where somebody knows them.
pub type Names = BTreeMap<u64, String>;

/// Every region as a table, and whether the checks were right.
pub fn text(report: &Report, names: &Names) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    for region in &report.regions {
        let _ = writeln!(out, "{}", section(region, names));
    }
    let _ = writeln!(out, "{}", verdict(report));
    out
}

fn section(region: &Region, names: &Names) -> String {
    let mut out = heading(region);
    let columns: Vec<Option<u32>> = {
        let mut nodes: Vec<_> = region.memory.iter().map(|share| share.node).collect();
        nodes.dedup();
        nodes
    };
    let mut kinds: Vec<&str> = Vec::new();
    for share in &region.memory {
        if !kinds.contains(&&share.kind[..]) {
            kinds.push(&share.kind);
        }
    }
    if kinds.is_empty() {
        out += "  no accesses\n";
        return out;
    }
    let mut table = Table::new();
    let header = |&node: &Option<u32>| match node {
        Some(node) if Some(node) == region.cpu_node => format!("node {node} (own)"),
        Some(node) => format!("node {node}"),
        None => "elsewhere".into(),
    };
    let first = std::iter::once("loads / stores / lines".to_owned());
    table.load_style(presets::NOTHING).set_header(first.chain(columns.iter().map(header)));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for kind in &kinds {
        let cell = |node: &Option<u32>| {
            let all = region.memory.iter();
            let here: Vec<&Share> =
                all.filter(|share| share.node == *node && share.kind == *kind).collect();
            cell(region, &here)
        };
        table.add_row(std::iter::once(says(kind).to_owned()).chain(columns.iter().map(cell)));
    }
    let sum = |node: &Option<u32>| {
        let here: Vec<&Share> = region.memory.iter().filter(|share| share.node == *node).collect();
        cell(region, &here)
    };
    table.add_row(std::iter::once("all".to_owned()).chain(columns.iter().map(sum)));
    let _ = writeln!(out, "{table}");
    // What a check does is known, and what is where on a stack says nothing.
    if region.role != Role::Check {
        for line in who(region, names) {
            let _ = writeln!(out, "    {line}");
        }
    }
    out
}

fn heading(region: &Region) -> String {
    let place = match region.cpu_node {
        Some(node) => format!("node {node}"),
        None => "no known node".into(),
    };
    let instructions = number(region.each(region.instructions));
    let mut out = format!(
        "{}: CPU {} of {place}, memory of node {}; {} times, each {instructions} instructions\n",
        region.name, region.cpu, region.node, region.times
    );
    if region.lost > 0 {
        let _ = writeln!(out, "  incomplete: {} accesses found no room in the plugin", region.lost);
    }
    out
}

/// Loads, stores and lines of some shares of a region; loads and stores of one time.
fn cell(region: &Region, shares: &[&Share]) -> String {
    let sum = |count: fn(&Share) -> u64| shares.iter().map(|share| count(share)).sum::<u64>();
    let lines = sum(|share| share.lines);
    if lines == 0 {
        return "-".into();
    }
    let each = |total| number(region.each(total));
    format!("{} / {} / {lines}", each(sum(|share| share.loads)), each(sum(|share| share.stores)))
}

/// Who touches other nodes' memory: a line for each place and line of source.
fn who(region: &Region, names: &Names) -> Vec<String> {
    let mut groups = BTreeMap::<(String, String), Vec<&Site>>::new();
    for site in region.remote.iter().filter(|site| site.kind != "stack") {
        let node = site.node.map_or("elsewhere".into(), |node| format!("node {node}"));
        let place = match &site.name[..] {
            "" => format!("{node}, {}", says(&site.kind)),
            name => format!("{node}, {}, {name}", says(&site.kind)),
        };
        let by = names.get(&site.pc).cloned().unwrap_or_else(|| format!("{:#x}", site.pc));
        groups.entry((place, by)).or_default().push(site);
    }
    let line = |((place, by), sites): ((String, String), Vec<&Site>)| {
        let sum = |count: fn(&Site) -> u64| {
            number(region.each(sites.iter().map(|site| count(site)).sum::<u64>()))
        };
        let offsets: BTreeSet<u64> = sites.iter().map(|site| site.offset).collect();
        let more = if offsets.len() > OFFSETS { " ..." } else { "" };
        let offsets: Vec<String> =
            offsets.iter().take(OFFSETS).map(|offset| format!("+{offset:#x}")).collect();
        let (loads, stores) = (sum(|site| site.loads), sum(|site| site.stores));
        format!("{place} {}{more}: loads {loads}, stores {stores}, by {by}", offsets.join(" "))
    };
    groups.into_iter().map(line).collect()
}

/// A kind in words.
fn says(kind: &str) -> &str {
    match kind {
        "stack" => "stack",
        "cpu" => "per-CPU block",
        "zone" => "zone and metadata",
        "tables" => "node map, shared tables",
        "image" => "kernel image",
        "reserved" => "page tables, other reserved",
        other => other,
    }
}

/// A figure without digits that say nothing.
pub fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn verdict(report: &Report) -> String {
    let checks = report.regions.iter().filter(|region| region.right.is_some()).count();
    match (report.is_right(), report.remote_accesses_per_pair) {
        (true, Some(figure)) => format!(
            "A pair with another node's zone makes {} loads and stores to other nodes' memory{}, \
             code fetches apart. The meter's checks are exact.",
            number(figure),
            report.worst_pair().map(by_kind).unwrap_or_default()
        ),
        (true, None) => "The meter's checks are exact.".into(),
        (false, _) if checks == 0 => "No check was among the regions.".into(),
        (false, _) => "The meter is wrong here: a known loop gave other counts than it has.".into(),
    }
}

/// What the accesses to other nodes' memory are, in brackets; empty where there are none.
fn by_kind(region: &Region) -> String {
    let kinds = region.remote_by_kind().into_iter();
    let words: Vec<String> = kinds
        .map(|(kind, count)| format!("{} {}", says(kind), number(region.each(count))))
        .collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::{CHECK, check, region, report};
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn nodes_are_columns_and_kinds_are_rows() {
        let lines = format!(
            "{CHECK}region 0 13 1 405 0\naccess 0 13 a0 101000 15 10\naccess 0 13 ac 111010 20 5\n\
             access 0 13 ad 101080 5 0\n"
        );
        let report = report(json!([check(), region(13, "pair", 0, 1, Value::Null)]), &lines);
        let names = Names::from([(0xac, "f at a.rs:7".to_owned())]);
        let text = text(&report, &names);
        let rows: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        for wanted in [
            "pair on node 1: CPU 0 of node 0, memory of node 1; 10 times, each 40.5 instructions",
            "loads / stores / lines node 0 (own) node 1",
            "pageset 2 / 1 / 2 -",
            "zone and metadata - 2 / 0.5 / 1",
            "all 2 / 1 / 2 2 / 0.5 / 1",
            "node 1, zone and metadata, node 1 DMA32 +0x10: loads 2, stores 0.5, by f at a.rs:7",
            "A pair with another node's zone makes 2.5 loads and stores to other nodes' memory (zone \
             and metadata 2.5), code fetches apart. The meter's checks are exact.",
        ] {
            assert!(rows.iter().any(|row| row == wanted), "no {wanted:?} in:\n{text}");
        }
    }

    #[test]
    fn doubt_is_said() {
        let wrong = report(json!([check()]), "region 0 1 1 50 0\n");
        assert!(text(&wrong, &Names::new()).contains("The meter is wrong here"));
        let none = report(json!([]), "");
        assert!(text(&none, &Names::new()).contains("No check was among the regions."));
    }
}
