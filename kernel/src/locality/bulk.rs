//! Many single frames allocated, then freed, the last first: refills and drains of the pageset are
//! in it.

use nearmem::alloc::{Policy, Request};
use nearmem::{NodeId, Order};
use nearmem_x86_64::marker;

use super::Ends;
use super::region::{Region, Role};
use crate::Kernel;
use crate::bench::measure::{bulk_pages, clear, fill, places, ticks_of};

/// Frames of a bulk, fewer on a small node.
const FRAMES: u64 = 4096;

/// How many frames, and how many ticks they took.
type Count = (u64, u64);

/// Runs bulks on this CPU: of its own node, then of another.
pub(super) fn run(kernel: &Kernel, ends: &Ends) -> impl Iterator<Item = Region> {
    let cpu = ends.cpu;
    let region = move |id, name, node, (times, ticks): Count| Region {
        id,
        cpu,
        name,
        node,
        times,
        ticks,
        role: Role::Bulk,
    };
    let local = Request::new(Order::ZERO);
    let [allocate, free] = bulk::<20, 21>(kernel, ends.own, &local);
    let own = [
        region(20, "bulk, own node, allocate", ends.own, allocate),
        region(21, "bulk, own node, free", ends.own, free),
    ];
    let other = ends.other.map(|node| {
        let remote = local.on(Policy::Preferred(node));
        let [allocate, free] = bulk::<22, 23>(kernel, node, &remote);
        [
            region(22, "bulk, other node, allocate", node, allocate),
            region(23, "bulk, other node, free", node, free),
        ]
    });
    own.into_iter().chain(other.into_iter().flatten())
}

/// Both directions. A first round only brings the steady state about.
fn bulk<const ALLOCATE: u8, const FREE: u8>(
    kernel: &Kernel,
    node: NodeId,
    request: &Request<'_>,
) -> [Count; 2] {
    let memory = kernel.memory;
    let frames = FRAMES.min(bulk_pages(kernel, node, 1));
    let places = &mut places(frames)[..];
    fill(memory, places, request);
    clear(memory, places);
    let allocated = ticks_of(|| {
        marker::begin::<ALLOCATE>();
        fill(memory, places, request);
        marker::end::<ALLOCATE>();
    });
    let freed = ticks_of(|| {
        marker::begin::<FREE>();
        clear(memory, places);
        marker::end::<FREE>();
    });
    [(frames, allocated), (frames, freed)]
}
