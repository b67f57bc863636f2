//! Boot memory to zones: the tables first, each on its node, then all that is still free.

use crate::ids::{CpuId, MAX_CPUS, NodeId};
use crate::memblock::{BootAllocError, BootFallbacks, MemBlock};
use crate::pageset::{Pageset, PagesetCell};
use crate::platform::CpuPlatform;
use crate::sync::AtomicBool;
use crate::topology::NodeMap;
use crate::zone::{RawMemory, Zone, ZoneId, ZoneKind, populated_kinds};

use super::boot_room::BootRoom;
use super::cpu_block::CpuBlock;
use super::nodes::{NO_ZONE, NodeEntry};
use super::request_word::RequestWord;
use super::slot::Slot;
use super::ways;
use super::zonelist::FallbackOrders;
use super::{HandOverError, MemorySubsystem, Options};

/// What the hand-over did, in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HandOverReport {
    /// Given to zones.
    pub released: u64,
    /// Free in boot memory, but refused by their zone: they stay reserved. 0 unless boot memory
    /// gets more separate reserved ranges than the zone was made for.
    pub refused: u64,
    /// What was free before, less the two above: tables and metadata, and the rest of frames that
    /// they share with nothing.
    pub tables: u64,
    /// Boot allocations, those before the hand-over included, that their node had no room for.
    pub fallbacks: BootFallbacks,
}

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Builds zones, zonelists and boot pagesets and hands all free boot memory to the zones,
    /// each zone's metadata on its own node. Sets the watermarks.
    ///
    /// # Errors
    /// No room for the tables, or several nodes without the feature for them. Boot memory is gone
    /// then: there is nothing to go on with.
    ///
    /// # Safety
    /// All memory of `boot_memory` is RAM, reachable through the platform for `'m`, and what is
    /// not reserved there is nobody's. The platform has served no other memory subsystem, nor has
    /// a clone of it that is the same machine.
    pub unsafe fn hand_over(
        mut boot_memory: MemBlock<'_>,
        map: &'m NodeMap<'m>,
        platform: P,
        options: Options,
    ) -> Result<Self, HandOverError> {
        if !cfg!(feature = "numa") && map.possible().len() > 1 {
            return Err(HandOverError::ManyNodes);
        }
        let before = free_frames(&boot_memory);
        // SAFETY: the caller says what `new` asks for.
        let mut room = unsafe { BootRoom::new(&mut boot_memory, map, &platform) };
        let zones = make_zones(&mut room, map)?;
        let nodes = make_nodes(&mut room, map, zones)?;
        let (cpus, outsider) = make_cpus(&mut room, map, zones, nodes)?;

        let after = free_frames(&boot_memory);
        let pin = platform.pin();
        let mut report = HandOverReport {
            tables: before - after,
            fallbacks: *boot_memory.fallbacks(),
            ..HandOverReport::default()
        };
        for range in boot_memory.free_ranges() {
            for kind in ZoneKind::ALL {
                let frames = range.frames.intersect(kind.frames());
                if frames.is_empty() {
                    continue;
                }
                let zone = zone_index(nodes, ZoneId { node: range.node, kind })
                    .and_then(|index| zones.get(usize::from(index)));
                // SAFETY: free in boot memory, which the caller vouches for and this consumes.
                match zone.map(|zone| unsafe { zone.release(pin.as_ref(), frames) }) {
                    Some(Ok(())) => report.released += frames.len(),
                    _ => report.refused += frames.len(),
                }
            }
        }
        drop(pin);
        let mm = MemorySubsystem { platform, map, zones, nodes, cpus, outsider, options, report };
        mm.set_watermarks();
        Ok(mm)
    }
}

/// The index of a zone in the zone table.
pub(super) fn zone_index(nodes: &[NodeEntry<'_>], id: ZoneId) -> Option<u16> {
    let index = *nodes.get(id.node.index())?.zones.get(id.kind.index())?;
    (index != NO_ZONE).then_some(index)
}

fn free_frames(boot: &MemBlock<'_>) -> u64 {
    boot.free_ranges().map(|range| range.frames.len()).sum()
}

/// All zones that have frames, by node and kind, ascending.
fn populated<'a>(map: &'a NodeMap<'_>) -> impl Iterator<Item = ZoneId> + 'a {
    let nodes = map.with_memory().iter();
    nodes.flat_map(|node| populated_kinds(map, node).map(move |kind| ZoneId { node, kind }))
}

fn make_zones<'m, P: CpuPlatform>(
    room: &mut BootRoom<'_, '_, 'm, P>,
    map: &'m NodeMap<'m>,
) -> Result<&'m [&'m Zone<'m>], HandOverError> {
    let count = populated(map).count();
    let home = nearest(map, NodeId(0));
    let (mut table, _) = room.take(home, RawMemory::bytes_for::<&Zone<'_>>(count as u64))?;
    let mut ids = populated(map).enumerate();
    let mut failed = None;
    let zones = table.slice(count as u64, |_| {
        let (index, id) = ids.next()?;
        room.zone(id, index as u16).map_err(|error| failed = Some(error)).ok()
    });
    match (zones, failed) {
        (Some(zones), _) => Ok(zones),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(&[]),
    }
}

/// The table of nodes, from 0 to the highest id: on node 0's memory, each list on its own node's.
fn make_nodes<'m, P: CpuPlatform>(
    room: &mut BootRoom<'_, '_, 'm, P>,
    map: &'m NodeMap<'m>,
    zones: &[&Zone<'_>],
) -> Result<&'m [NodeEntry<'m>], HandOverError> {
    let count = map.possible().iter().last().map_or(1, |last| last.index() + 1);
    let empty = |_| Some(NodeEntry { order: &[], cpus: 0, zones: [NO_ZONE; 3] });
    let nodes = room.slice(nearest(map, NodeId(0)), count, empty)?;
    let mut orders = FallbackOrders::new(map.with_memory(), |from, to| map.distance(from, to));
    for (id, entry) in (0..).map(NodeId).zip(nodes.iter_mut()) {
        let list = room.slice(nearest(map, id), orders.len(id), |_| Some(id))?;
        let mut places = list.iter_mut();
        orders.list(id, |node| {
            if let Some(place) = places.next() {
                *place = node;
            }
        });
        entry.order = list;
    }
    for (entry, cpus) in nodes.iter_mut().zip(map.cpu_counts()) {
        entry.cpus = cpus;
    }
    for (index, zone) in zones.iter().enumerate() {
        let ZoneId { node, kind } = zone.id();
        if let Some(entry) = nodes.get_mut(node.index()) {
            entry.zones[kind.index()] = index as u16;
        }
    }
    Ok(nodes)
}

type CpuTable<'m> = (&'m [&'m CpuBlock<'m>], &'m CpuBlock<'m>);

/// The blocks of all present CPUs, each on its CPU's node, and one for CPUs that the map does not
/// know, should the platform name one: it never gets pagesets, so they may share it.
fn make_cpus<'m, P: CpuPlatform>(
    room: &mut BootRoom<'_, '_, 'm, P>,
    map: &'m NodeMap<'m>,
    zones: &'m [&'m Zone<'m>],
    nodes: &'m [NodeEntry<'m>],
) -> Result<CpuTable<'m>, HandOverError> {
    let present = map.cpus().len().min(MAX_CPUS);
    let home = nearest(map, NodeId(0));
    let no_room = HandOverError::NoRoom(BootAllocError::NoRoom { bytes: 0 });
    let any = zones.first().ok_or(no_room)?;
    let empty = room.slice(home, 1, |_| Some(Pageset::boot(any)))?.first().ok_or(no_room)?;
    let make_cpu = |room: &mut _, id, node| make_cpu(room, id, node, zones, nodes, empty);
    let outsider = make_cpu(room, CpuId(u16::MAX), home)?;
    let cpus = room.slice(nearest(map, NodeId(0)), present, |_| Some(outsider))?;
    for (id, place) in (0..).map(CpuId).zip(cpus.iter_mut()) {
        *place = make_cpu(room, id, map.node_of_cpu(id))?;
    }
    Ok((cpus, outsider))
}

fn make_cpu<'m, P: CpuPlatform>(
    room: &mut BootRoom<'_, '_, 'm, P>,
    cpu: CpuId,
    node: NodeId,
    zones: &'m [&'m Zone<'m>],
    nodes: &'m [NodeEntry<'m>],
    empty: &'m Pageset<'m>,
) -> Result<&'m CpuBlock<'m>, HandOverError> {
    let ways = ways::count(nodes.len());
    let bytes = RawMemory::bytes_for::<CpuBlock<'_>>(1)
        + RawMemory::bytes_for::<PagesetCell<'_>>(ways as u64)
        + RawMemory::bytes_for::<PagesetCell<'_>>(zones.len() as u64)
        + RawMemory::bytes_for::<Slot<'_>>(zones.len() as u64)
        + RawMemory::bytes_for::<[u16; 3]>(nodes.len() as u64);
    let home = first_with_memory(nodes, node).unwrap_or(node);
    let (mut raw, memory) = room.take(home, bytes)?;
    let no_room = HandOverError::NoRoom(BootAllocError::NoRoom { bytes });
    let mut own = raw.cut(RawMemory::bytes_for::<CpuBlock<'_>>(1)).ok_or(no_room)?;
    let ways = ways::make(ways, &mut raw, empty).ok_or(no_room)?;
    let pagesets: &'m [PagesetCell<'m>] =
        raw.slice(zones.len() as u64, |_| Some(PagesetCell::new(empty))).ok_or(no_room)?;
    let slots = raw
        .slice(zones.len() as u64, |at| {
            let (zone, cell) = (zones.get(at as usize)?, pagesets.get(at as usize)?);
            Some(Slot::new(zone, at as u16, cell))
        })
        .ok_or(no_room)?;
    let zones_of = raw
        .slice(nodes.len() as u64, |at| nodes.get(at as usize).map(|node| node.zones))
        .ok_or(no_room)?;
    let mut block = Some(CpuBlock {
        ways,
        pagesets,
        cpu,
        node,
        // Only the boot CPU runs at first.
        online: AtomicBool::new(cpu == CpuId(0)),
        requests: RequestWord::new(),
        slots,
        zones_of,
        nodes,
        memory,
    });
    own.slice(1, |_| block.take()).and_then(|place| place.first()).ok_or(no_room)
}

/// The first node of a fallback order that has zones.
fn first_with_memory(nodes: &[NodeEntry<'_>], node: NodeId) -> Option<NodeId> {
    let has_zones = |node: &NodeId| {
        nodes.get(node.index()).is_some_and(|entry| entry.zones.iter().any(|&zone| zone != NO_ZONE))
    };
    nodes.get(node.index())?.order.iter().copied().find(has_zones)
}

/// The node itself, or the nearest one with memory.
fn nearest(map: &NodeMap<'_>, node: NodeId) -> NodeId {
    if map.with_memory().contains(node) {
        return node;
    }
    map.with_memory().iter().min_by_key(|&other| map.distance(node, other)).unwrap_or(node)
}
