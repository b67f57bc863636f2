//! The node map as JSON, integers in decimal.

use std::collections::BTreeSet;

use nearmem::finding::Finding;
use nearmem::firmware::cedt::HostBridge;
use nearmem::firmware::hmat::SideCache;
use nearmem::topology::access::Figures;
use nearmem::{ApicId, NodeId};
use serde_json::{Map, Value, json};

use super::build::{Built, Node};
use super::cpus::Cpus;
use super::speeds::{Speeds, Target};
use super::windows::{Cxl, Window};

/// The faults that `warnings` lists; every other finding is one of the `notes`.
const WARNINGS: [&str; 16] = [
    "srat-absent",
    "srat-rejected",
    "srat-bad-entry-length",
    "srat-truncated",
    "srat-rev1-high-bits",
    "srat-cpu-conflict",
    "srat-memory-wraps",
    "srat-memory-beyond-map",
    "srat-overlap",
    "srat-overlap-same-node",
    "srat-uncovered-ram",
    "slit-bad-diagonal",
    "slit-bad-remote",
    "slit-rejected",
    "slit-smaller-than-pxm",
    "slit-truncated",
];

/// The whole object.
pub fn value(built: &Built) -> Value {
    let mut out = Map::new();
    out.insert("nodes".into(), built.nodes.iter().map(node).collect());
    out.insert("distances".into(), json!(built.distances));
    let orders = built.fallback_order.iter();
    let orders = orders.map(|order| order.iter().map(|node| node.0).collect::<Vec<_>>());
    out.insert("fallback_order".into(), json!(orders.collect::<Vec<_>>()));
    if !built.only_possible.is_empty() {
        let possible = built.only_possible.iter();
        let possible = possible.map(|(id, pxm)| json!({"id": id.0, "pxm": pxm.map(|pxm| pxm.0)}));
        out.insert("possible_nodes".into(), possible.collect());
    }
    if built.uncovered_bytes > 0 {
        out.insert("uncovered_bytes".into(), built.uncovered_bytes.into());
    }
    out.insert("fallback".into(), built.fallback.into());
    let names = |listed: bool| -> BTreeSet<&str> {
        let names = built.findings.iter().map(|finding| finding.kind.name());
        names.filter(|name| WARNINGS.contains(name) == listed).collect()
    };
    out.insert("warnings".into(), json!(names(true)));
    out.insert("notes".into(), json!(names(false)));
    out.insert("findings".into(), built.findings.iter().map(finding).collect());
    if let Some(speeds) = &built.speeds {
        out.insert("hmat".into(), hmat(speeds));
    }
    if let Some(cpus) = &built.cpus {
        out.insert("madt".into(), madt(cpus));
    }
    if let Some(cxl) = &built.cxl {
        out.insert("cedt".into(), cedt(cxl));
    }
    Value::Object(out)
}

fn ids<'a>(ids: impl IntoIterator<Item = &'a ApicId>) -> Vec<u32> {
    ids.into_iter().map(|apic| apic.0).collect()
}

fn hmat(speeds: &Speeds) -> Value {
    let nodes = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect::<Vec<_>>();
    let figures = |figure: fn(&Figures) -> Option<u32>| {
        let row = |row: &Vec<Figures>| row.iter().map(figure).collect::<Vec<_>>();
        speeds.figures.iter().map(row).collect::<Vec<_>>()
    };
    let memory = |target: &Target| {
        json!({
            "node": target.node.0,
            "tier": target.tier,
            "abstract_distance": target.abstract_distance,
            "weight": target.weight,
            "best_initiators": nodes(&target.best),
            "best_cpu_initiators": nodes(&target.best_cpus),
        })
    };
    let cache = |(node, cache): &(NodeId, SideCache)| {
        let &SideCache { size, levels, level, line, .. } = cache;
        json!({"node": node.0, "size": size, "levels": levels, "level": level, "line": line})
    };
    let targets: Vec<NodeId> = speeds.targets.iter().map(|target| target.node).collect();
    json!({
        "used": speeds.known,
        "initiators": nodes(&speeds.initiators),
        "targets": nodes(&targets),
        "read_latency_ns": figures(|figures| figures.read_latency),
        "write_latency_ns": figures(|figures| figures.write_latency),
        "read_bandwidth_mbs": figures(|figures| figures.read_bandwidth),
        "write_bandwidth_mbs": figures(|figures| figures.write_bandwidth),
        "memory": speeds.targets.iter().map(memory).collect::<Vec<_>>(),
        "caches": speeds.caches.iter().map(cache).collect::<Vec<_>>(),
    })
}

fn madt(cpus: &Cpus) -> Value {
    let node = |(node, cpus): &(NodeId, Vec<ApicId>)| json!({"id": node.0, "apic_ids": ids(cpus)});
    json!({
        "present": ids(&cpus.listed.present),
        "online_capable": ids(&cpus.listed.online_capable),
        "disabled": ids(&cpus.listed.disabled),
        "nodes": cpus.by_node.iter().map(node).collect::<Vec<_>>(),
        "without_srat_record": ids(&cpus.without_record),
        "only_in_srat": ids(&cpus.only_in_srat),
    })
}

fn cedt(cxl: &Cxl) -> Value {
    let window = |window: &Window| {
        json!({
            "base": window.base,
            "length": window.length,
            "ways": window.ways,
            "granularity": window.granularity,
            "restrictions": window.allows(),
            "qos_class": window.qos_class,
            "host_bridges": window.bridges,
            "node": window.node.map(|node| node.0),
        })
    };
    let bridge = |bridge: &HostBridge| {
        let &HostBridge { uid, version, base, length } = bridge;
        json!({"uid": uid, "version": version, "base": base, "length": length})
    };
    json!({
        "windows": cxl.windows.iter().map(window).collect::<Vec<_>>(),
        "host_bridges": cxl.bridges.iter().map(bridge).collect::<Vec<_>>(),
    })
}

fn node(node: &Node) -> Value {
    let memory = node.memory.iter().map(|range| [range.start.0, range.end.0]);
    let mut out = json!({
        "id": node.id.0,
        "pxm": node.pxm.map(|pxm| pxm.0),
        "memory": memory.collect::<Vec<_>>(),
        "apic_ids": node.apic_ids.iter().map(|apic| apic.0).collect::<Vec<_>>(),
    });
    if node.initiator {
        out["generic_initiator"] = true.into();
    }
    out
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(),
        "severity": finding.kind.severity().name(),
        "table": finding.place.table,
        "offset": finding.place.offset,
        "record": finding.place.record,
        "text": finding.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmem::finding::Kind;

    #[test]
    fn every_listed_warning_is_a_kind() {
        for name in WARNINGS {
            assert!(Kind::NAMES.iter().any(|(kind, _)| *kind == name), "{name}");
        }
    }
}
