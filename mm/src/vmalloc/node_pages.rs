//! How many pages of an area lie on each node: a walk of the page tables, since nothing else
//! knows.

use core::ops::Range;

use crate::alloc::MemorySubsystem;
use crate::ids::{MAX_NODES, NodeId};
use crate::platform::Platform;
use crate::units::{PAGE_SIZE, VirtAddr};

/// Nodes that one walk counts.
const GROUP: usize = 64;

/// 4 KiB pages by node, ascending, nodes without any left out. Walks once for every 64 node ids
/// that have memory.
pub(super) fn pages_by_node<'a, P: Platform>(
    mm: &'a MemorySubsystem<'_, P>,
    range: Range<VirtAddr>,
) -> impl Iterator<Item = (NodeId, u64)> + 'a {
    let groups = (0..MAX_NODES).step_by(GROUP);
    groups.filter(|&first| has_memory(mm, first)).flat_map(move |first| {
        let counts = count_group(mm, range.clone(), first);
        let nodes = (first..).map(|node| NodeId(node as u16));
        nodes.zip(counts).filter(|&(_, pages)| pages > 0)
    })
}

fn has_memory<P: Platform>(mm: &MemorySubsystem<'_, P>, first: usize) -> bool {
    let nodes = mm.map().with_memory();
    (first..first + GROUP).any(|node| nodes.contains(NodeId(node as u16)))
}

fn count_group<P: Platform>(
    mm: &MemorySubsystem<'_, P>,
    range: Range<VirtAddr>,
    first: usize,
) -> [u64; GROUP] {
    let mut counts = [0; GROUP];
    let mut at = range.start;
    while at < range.end {
        let Some(leaf) = mm.platform().translate(at) else {
            at = at + PAGE_SIZE;
            continue;
        };
        let node = mm.map().node_of(leaf.pfn).map(NodeId::index);
        let place = node.and_then(|node| node.checked_sub(first));
        if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
            *count += leaf.size.order().pages();
        }
        at = at + leaf.size.bytes();
    }
    counts
}
