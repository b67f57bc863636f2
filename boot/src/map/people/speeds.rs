//! What an HMAT says: latencies and bandwidths, tiers, weights, caches.

use std::fmt::{Result, Write};

use nearmem::NodeId;
use nearmem::firmware::hmat::{Associativity, SideCache, WritePolicy};
use nearmem::topology::access::Figures;

use super::grid::grid;
use super::section;
use super::text::{Runs, Size, wrapped};
use crate::map::build::Built;
use crate::map::speeds::Speeds;

/// A figure of a path.
type Figure = fn(&Figures) -> Option<u32>;

/// Writes the sections, when there is an HMAT.
pub fn write(out: &mut dyn Write, built: &Built) -> Result {
    let Some(speeds) = &built.speeds else { return Ok(()) };
    if !speeds.known {
        section(out, "Speed of memory")?;
        return writeln!(out, "  not known: the HMAT is not used");
    }
    pair(out, speeds, "latency in ns", |f| f.read_latency, |f| f.write_latency)?;
    pair(out, speeds, "bandwidth in MB/s", |f| f.read_bandwidth, |f| f.write_bandwidth)?;
    tiers(out, speeds)?;
    speeds.caches.iter().try_for_each(|(node, cache)| side_cache(out, *node, cache))
}

/// Reads and writes, once where they are the same.
fn pair(out: &mut dyn Write, speeds: &Speeds, what: &str, read: Figure, write: Figure) -> Result {
    let all = || speeds.figures.iter().flatten();
    if all().all(|figures| read(figures) == write(figures)) {
        return matrix(out, speeds, &format!("Access {what}"), read);
    }
    matrix(out, speeds, &format!("Read {what}"), read)?;
    matrix(out, speeds, &format!("Write {what}"), write)
}

fn matrix(out: &mut dyn Write, speeds: &Speeds, title: &str, figure: Figure) -> Result {
    if speeds.figures.iter().flatten().all(|figures| figure(figures).is_none()) {
        return Ok(());
    }
    section(out, &format!("{title}, from the node of the row (HMAT)"))?;
    let columns: Vec<NodeId> = speeds.targets.iter().map(|target| target.node).collect();
    let cell = |row: usize, column: usize| figure(speeds.figures.get(row)?.get(column)?);
    grid(out, &speeds.initiators, &columns, &cell)
}

fn tiers(out: &mut dyn Write, speeds: &Speeds) -> Result {
    section(out, "Memory by speed: a lower tier is faster, DRAM is 4")?;
    writeln!(out, "  node  tier  abstract distance  weight  reached best by")?;
    for target in &speeds.targets {
        let ids = |nodes: &[NodeId]| nodes.iter().map(|node| node.0.into()).collect::<Vec<u32>>();
        let (best, cpus) = (ids(&target.best), ids(&target.best_cpus));
        let text = match (&best[..], best == cpus) {
            ([], _) => "-".to_owned(),
            (best, true) => Runs(best).to_string(),
            (best, false) => format!("{}, of nodes with CPUs {}", Runs(best), Runs(&cpus)),
        };
        let start = format!(
            "  {:>4}  {:>4}  {:>17}  {:>6}  ",
            target.node, target.tier, target.abstract_distance, target.weight
        );
        wrapped(out, &start, start.len(), &text)?;
    }
    Ok(())
}

fn side_cache(out: &mut dyn Write, node: NodeId, cache: &SideCache) -> Result {
    let how = match cache.associativity {
        Associativity::Other => "",
        Associativity::DirectMapped => ", direct mapped",
        Associativity::Complex => ", complex indexing",
    };
    let policy = match cache.write_policy {
        WritePolicy::Other => "",
        WritePolicy::WriteBack => ", write back",
        WritePolicy::WriteThrough => ", write through",
    };
    let text = format!(
        "cache {} of {} in front of it: {}, lines of {} bytes{how}{policy}",
        cache.level,
        cache.levels,
        Size(cache.size),
        cache.line
    );
    wrapped(out, &format!("  node {:<4}  ", node.to_string()), 13, &text)
}
