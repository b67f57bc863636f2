//! For the launcher's locality meter (docs/locality.md): work between marks, and a line that says
//! where everything lies, so that the accesses that the meter saw get a node and a kind.
//!
//! In: `locality=` on the command line. Out: one fact of type `locality` on COM2, sent last, when
//! all that it names is in its place.

mod bulk;
mod check;
mod layout;
mod pairs;
mod region;

use alloc::vec::Vec;

use nearmem::memblock::MemBlock;
use nearmem::options::Locality;
use nearmem::{CpuId, NodeId, PhysRange};
use serde_json::json;
use spin::Mutex;

use crate::{Kernel, facts_port};
use region::Region;

/// What boot memory left to the zones: more ranges than these count as reserved.
const RANGES: usize = 512;

static FREE: Mutex<([PhysRange; RANGES], usize)> = Mutex::new(([PhysRange::new(0, 0); RANGES], 0));

/// Remembers which memory is free just before the hand-over: what is not, stays reserved. Only
/// the meter asks.
pub fn remember_free(boot_memory: &MemBlock<'_>) {
    let (ranges, count) = &mut *FREE.lock();
    for (place, range) in ranges.iter_mut().zip(boot_memory.free_ranges()) {
        *place = range.frames.bytes();
        *count += 1;
    }
}

/// A CPU and the nodes that it allocates on.
struct Ends {
    cpu: CpuId,
    /// Its own node, or the nearest one with memory.
    own: NodeId,
    /// The nearest other node with memory.
    other: Option<NodeId>,
}

/// Does what the command line asks of the meter's work, and tells the launcher.
pub fn run(kernel: &Kernel) {
    let Some(locality) = kernel.options.locality else { return };
    let mut regions = Vec::new();
    if locality == Locality::Pairs {
        // Every CPU that runs has to go through it: one does.
        let ends = ends(kernel);
        pairs::warm_up(kernel, &ends);
        regions.extend(check::run(kernel, &ends));
        regions.extend(pairs::run(kernel, &ends));
        regions.extend(bulk::run(kernel, &ends));
    }
    let mut fact = layout::layout(kernel);
    fact["type"] = json!("locality");
    fact["regions"] = regions.iter().map(Region::as_json).collect();
    facts_port::send(&fact);
}

/// Those of the CPU that asks.
fn ends(kernel: &Kernel) -> Ends {
    let (cpu, node) = {
        let pin = kernel.memory.pin();
        (pin.cpu(), pin.node())
    };
    let with_memory = kernel.map.with_memory();
    let mut order = kernel.memory.fallback_order(node).iter().copied();
    let mut next = || order.by_ref().find(|&node| with_memory.contains(node));
    let own = next().unwrap_or(node);
    Ends { cpu, own, other: next() }
}
