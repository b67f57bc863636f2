//! The HMAT to latencies, bandwidths, tiers and interleave weights; what of it the log and the
//! facts say.

use alloc::vec::Vec;

use nearmem::NodeId;
use nearmem::firmware::hmat::{Associativity, SideCache, WritePolicy};
use nearmem::ids::MAX_NODES;
use nearmem::options::Options;
use nearmem::report;
use nearmem::topology::NodeMap;
use nearmem::topology::access::{Access, AccessNode, AccessStorage, Class};
use nearmem_x86_64::{println, serial};
use serde_json::{Value, json};
use spin::{Mutex, MutexGuard};

use crate::acpi::Tables;
use crate::findings::Report;

struct Static {
    nodes: [AccessNode; MAX_NODES],
    distances: [u32; MAX_NODES],
    weights: [u8; MAX_NODES],
    access: Option<Access<'static>>,
}

static STATIC: Mutex<Static> = Mutex::new(Static {
    nodes: [AccessNode::NONE; MAX_NODES],
    distances: [0; MAX_NODES],
    weights: [0; MAX_NODES],
    access: None,
});

/// Reads the HMAT and logs what follows from it. To be called once.
pub fn build(
    tables: &Tables,
    map: &'static NodeMap<'static>,
    options: &Options<'_>,
) -> &'static Access<'static> {
    let Static { nodes, distances, weights, access } = MutexGuard::leak(STATIC.lock());
    let built = match tables.hmat {
        Some(_) if options.no_hmat => {
            println!("HMAT: not used, as numa=nohmat says");
            Access::unknown(map)
        }
        Some(hmat) => {
            let storage = AccessStorage { nodes, distances, weights };
            Access::build(hmat, map, storage, &mut Report)
        }
        None => Access::unknown(map),
    };
    let access = access.insert(built);
    // The port cannot fail.
    let _ = report::access::log(&mut serial::console(), access);
    access
}

/// The part of the facts; null without an HMAT.
pub fn facts(access: &Access<'_>) -> Value {
    if !access.is_known() {
        return Value::Null;
    }
    let memory = access.map().with_memory();
    let nodes: Vec<Value> = memory
        .iter()
        .map(|node| {
            json!({
                "id": node.0,
                "tier": access.tier(node),
                "abstract_distance": access.abstract_distance(node),
                "weight": access.weight(node),
                "access0": best(access, node, Class::Any),
                "access1": best(access, node, Class::Cpus),
            })
        })
        .collect();
    let caches: Vec<Value> = access.caches().map(|(node, side)| cache(node, &side)).collect();
    json!({"nodes": nodes, "caches": caches})
}

/// In Linux's names and units: nanoseconds and MB/s, null for what is not known.
fn best(access: &Access<'_>, node: NodeId, class: Class) -> Value {
    let best = access.best(node, class);
    let initiators: Vec<u16> = best.initiators.iter().map(|node| node.0).collect();
    json!({
        "initiators": initiators,
        "read_latency": best.figures.read_latency,
        "write_latency": best.figures.write_latency,
        "read_bandwidth": best.figures.read_bandwidth,
        "write_bandwidth": best.figures.write_bandwidth,
    })
}

/// In Linux's names and numbers.
fn cache(node: NodeId, cache: &SideCache) -> Value {
    let indexing = match cache.associativity {
        Associativity::DirectMapped => 0,
        Associativity::Complex => 1,
        Associativity::Other => 2,
    };
    let write_policy = match cache.write_policy {
        WritePolicy::WriteBack => 0,
        WritePolicy::WriteThrough => 1,
        WritePolicy::Other => 2,
    };
    json!({
        "node": node.0,
        "level": cache.level,
        "size": cache.size,
        "line_size": cache.line,
        "indexing": indexing,
        "write_policy": write_policy,
    })
}
