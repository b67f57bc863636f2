//! Facts for programs: what this kernel made of the machine, in the shape that the comparison
//! with Linux reads (`exact` is to match, `informative` is comparable in kind).

use alloc::string::ToString;
use alloc::vec::Vec;

use nearmem::alloc::interleave_nodes;
use nearmem::alloc::watermark::{DEFAULT_SCALE, LOWMEM_RESERVE_RATIO};
use nearmem::hash::Placement;
use nearmem::report::collect;
use nearmem::report::figures::kb;
use nearmem::zone::{Zone, ZoneKind};
use nearmem::{NodeId, NodeSet, PfnRange};
use serde_json::{Map, Value, json};

use crate::Kernel;
use crate::access;
use crate::findings;
use crate::placement::table;
use crate::tables::Table;

/// All facts as one object.
pub fn facts(kernel: &Kernel) -> Value {
    json!({
        "type": "facts",
        "exact": exact(kernel),
        "informative": informative(kernel),
        "findings": findings::as_json(),
        "cmdline": kernel.command_line,
    })
}

fn ids(nodes: &NodeSet) -> Value {
    nodes.iter().map(|node| node.0).collect()
}

fn exact(kernel: &Kernel) -> Value {
    let map = kernel.map;
    let online: Vec<NodeId> = map.online().iter().collect();
    let distances: Vec<Vec<u8>> = online
        .iter()
        .map(|&from| online.iter().map(|&to| map.distance(from, to)).collect())
        .collect();
    let zonelists: Map<_, _> = map
        .possible()
        .iter()
        .map(|node| {
            let order = kernel.memory.fallback_order(node).iter().map(|node| node.0);
            (node.to_string(), order.collect())
        })
        .collect();
    let main_tables = ["Dentry cache", "Inode-cache"];
    let tables: Vec<Value> = kernel
        .tables
        .iter()
        .map(Table::info)
        .filter(|info| main_tables.contains(&info.name))
        .map(|info| {
            json!({"name": info.name, "entries": info.entries, "order": info.order,
                   "bytes": info.bytes, "placement": info.placement.name()})
        })
        .collect();
    json!({
        "numa": map.source().name(),
        "possible_nodes": ids(map.possible()),
        "online_nodes": ids(map.online()),
        "memory_nodes": ids(map.with_memory()),
        "cpu_nodes": ids(map.with_cpus()),
        "nodes": online.iter().map(|&node| exact_node(kernel, node)).collect::<Vec<_>>(),
        "distances": distances,
        "zonelists": zonelists,
        "policy_zone": collect::policy_zone(kernel.memory).map(ZoneKind::name),
        "interleave_nodes": interleaved(kernel),
        "hash_tables": tables,
    })
}

/// The nodes on which tables in vmalloc space have pages; null when no table is there.
fn interleaved(kernel: &Kernel) -> Value {
    if kernel.tables.iter().all(|table| table.info().placement == Placement::Linear) {
        return Value::Null;
    }
    ids(&interleave_nodes(kernel.map))
}

fn zones_of(kernel: &Kernel, node: NodeId) -> impl Iterator<Item = &'static Zone<'static>> {
    kernel.memory.zones().iter().copied().filter(move |zone| zone.id().node == node)
}

fn exact_node(kernel: &Kernel, node: NodeId) -> Value {
    let map = kernel.map;
    let mut cpus: Vec<u16> = map.cpus_of(node).map(|cpu| cpu.0).collect();
    cpus.sort_by_key(|&cpu| map.cpus()[usize::from(cpu)].apic);
    let memory = map.node_ranges(node).map(PfnRange::bytes);
    let zones: Map<_, _> = zones_of(kernel, node)
        .map(|zone| {
            let span = zone.span();
            let figures = json!({"start_pfn": span.start.0, "spanned": span.len(),
                                 "present": zone.present()});
            (zone.id().kind.to_string(), figures)
        })
        .collect();
    json!({
        "id": node.0,
        "pxm": map.pxm(node).map(|pxm| pxm.0),
        "cpus": cpus,
        "memory": memory.map(|range| [range.start.0, range.end.0]).collect::<Vec<_>>(),
        "zones": zones,
    })
}

fn informative(kernel: &Kernel) -> Value {
    let nodes: Vec<Value> =
        kernel.map.online().iter().map(|node| informative_node(kernel, node)).collect();
    // Linux has two zone types more, Movable and Device, which have no reserve.
    let mut ratios = LOWMEM_RESERVE_RATIO.to_vec();
    ratios.resize(5, 0);
    json!({
        "nodes": nodes,
        "access": access::facts(kernel.access),
        "min_free_kbytes": kernel.memory.min_free_kbytes(),
        "watermark_scale_factor":
            kernel.options.alloc.watermark_scale_factor.unwrap_or(DEFAULT_SCALE),
        "lowmem_reserve_ratio": ratios,
        "zonelist_pages": collect::zonelist_pages(kernel.memory),
        "hash_tables": kernel.tables.iter().map(table).collect::<Vec<_>>(),
    })
}

fn informative_node(kernel: &Kernel, node: NodeId) -> Value {
    let cpus = kernel.map.cpus_of(node).count();
    let figures = collect::node_memory(kernel.memory, node);
    let zones: Map<_, _> = zones_of(kernel, node)
        .map(|zone| (zone.id().kind.to_string(), informative_zone(kernel, zone)))
        .collect();
    json!({
        "id": node.0,
        "cpus": cpus,
        "total_kb": kb(figures.managed),
        "free_kb": kb(figures.free),
        "used_kb": kb(figures.used_of_managed()),
        "taken_kb": kb(figures.used()),
        "zones": zones,
    })
}

fn informative_zone(kernel: &Kernel, zone: &Zone<'_>) -> Value {
    let marks = zone.watermarks();
    // Linux's two further zone types are never populated here: what protects a zone from requests
    // that could use them is what protects it from those for Normal.
    let mut protection: Vec<u64> =
        ZoneKind::ALL.iter().map(|&limit| zone.protection(limit)).collect();
    protection.resize(5, zone.protection(ZoneKind::Normal));
    let sizes = kernel.memory.pageset_sizes(zone.id());
    json!({
        "managed": zone.managed(),
        "min": marks.min,
        "low": marks.low,
        "high": marks.high,
        "protection": protection,
        "pcp_high": sizes.map(|sizes| sizes.high),
        "pcp_batch": sizes.map(|sizes| sizes.batch),
    })
}
