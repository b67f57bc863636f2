//! How the memory of a node is divided into zones (reference: zones-and-zonelists, section 1).
#![forbid(unsafe_code)]

use super::{ZoneId, ZoneKind};
use crate::ids::NodeId;
use crate::topology::NodeMap;
use crate::units::{PAGE_SIZE, PfnRange};

/// How many frames a zone spans and has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneSpan {
    /// Which zone.
    pub id: ZoneId,
    /// From its first frame to its last, holes included. Spans of nodes that lie interleaved
    /// overlap.
    pub span: PfnRange,
    /// Frames with RAM of this node.
    pub present: u64,
}

/// The span of one zone: what the node reaches over, from its lowest frame to its highest, within
/// the limits of the zone. It runs to the zone's own limit when the node goes on beyond, RAM or
/// not. `present` is 0 when the node has no memory there.
pub fn zone_span(map: &NodeMap<'_>, id: ZoneId) -> ZoneSpan {
    let limits = id.kind.frames();
    let (mut node, mut present) = (None, 0);
    for range in map.node_ranges(id.node).filter(|range| !range.is_empty()) {
        let all: &mut PfnRange = node.get_or_insert(range);
        all.start = all.start.min(range.start);
        all.end = all.end.max(range.end);
        present += range.intersect(limits).len();
    }
    let span = node.unwrap_or_default().intersect(limits);
    let span = if span.is_empty() { PfnRange::default() } else { span };
    ZoneSpan { id, span, present }
}

/// The zones of a node that have frames, ascending.
pub(crate) fn populated_kinds(map: &NodeMap<'_>, node: NodeId) -> impl Iterator<Item = ZoneKind> {
    let mut found = [false; ZoneKind::ALL.len()];
    for range in map.node_ranges(node) {
        for kind in ZoneKind::ALL {
            found[kind.index()] |= !range.intersect(kind.frames()).is_empty();
        }
    }
    ZoneKind::ALL.into_iter().filter(move |kind| found[kind.index()])
}

/// The contiguous ranges of RAM of a zone, ascending; none is empty.
pub(super) fn present_ranges<'a>(
    map: &'a NodeMap<'_>,
    id: ZoneId,
) -> impl Iterator<Item = PfnRange> + 'a {
    let limits = id.kind.frames();
    map.node_ranges(id.node)
        .map(move |range| range.intersect(limits))
        .filter(|range| !range.is_empty())
}

/// Linux's `nr_kernel_pages`, in frames: what the sizes of the hash tables are computed from
/// (reference: large-system-hash, the 6.1 rule). Over all zones, the present frames less what
/// Linux's page structures would take, and for DMA zones less `dma_reserve` frames
/// ([`MemBlock::dma_reserve`](crate::memblock::MemBlock::dma_reserve)).
pub fn kernel_pages(map: &NodeMap<'_>, dma_reserve: u64) -> u64 {
    map.with_memory()
        .iter()
        .flat_map(|node| ZoneKind::ALL.map(|kind| zone_span(map, ZoneId { node, kind })))
        .map(|zone| zone_kernel_pages(&zone, dma_reserve))
        .sum()
}

/// One zone's share. What is to be taken off and is more than there is, is not taken off.
fn zone_kernel_pages(zone: &ZoneSpan, dma_reserve: u64) -> u64 {
    const PAGE_STRUCTURE_BYTES: u64 = 64;
    // A sparse zone is counted by what it has, not by what it reaches over.
    let described = if zone.span.len() > zone.present + zone.present / 16 {
        zone.present
    } else {
        zone.span.len()
    };
    let structures = (described * PAGE_STRUCTURE_BYTES).div_ceil(PAGE_SIZE);
    let pages = zone.present.checked_sub(structures).unwrap_or(zone.present);
    if zone.id.kind == ZoneKind::Dma && pages > dma_reserve { pages - dma_reserve } else { pages }
}
