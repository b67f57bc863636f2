//! Figures of a running memory subsystem.
//!
//! Each is taken at its own moment, one zone at a time; while other CPUs work, sums are a guess.

use super::figures::{NodeMemory, PagesetFigures, ZoneFigures};
use crate::alloc::MemorySubsystem;
use crate::ids::{CpuId, NodeId};
use crate::platform::Platform;
use crate::zone::{ZoneId, ZoneKind};

/// The frames of a node: the sums over its zones.
pub fn node_memory<P: Platform>(memory: &MemorySubsystem<'_, P>, node: NodeId) -> NodeMemory {
    let zones = memory.zones().iter().filter(|zone| zone.id().node == node);
    zones.fold(NodeMemory::default(), |sum, zone| {
        sum.plus(NodeMemory { present: zone.present(), managed: zone.managed(), free: zone.free() })
    })
}

/// A zone; `None` when it has no frames.
pub fn zone<P: Platform>(memory: &MemorySubsystem<'_, P>, id: ZoneId) -> Option<ZoneFigures> {
    let zone = memory.zone(id)?;
    let blocks = zone.block_counts(memory.pin().token());
    Some(ZoneFigures {
        id,
        span: zone.span(),
        present: zone.present(),
        managed: zone.managed(),
        free: zone.free(),
        marks: zone.watermarks(),
        protection: ZoneKind::ALL.map(|limit| zone.protection(limit)),
        blocks,
        counters: memory.zone_counters(id),
    })
}

/// The pagesets of a zone, one a present CPU.
pub fn pagesets<P: Platform>(
    memory: &MemorySubsystem<'_, P>,
    zone: ZoneId,
) -> impl Iterator<Item = (CpuId, PagesetFigures)> {
    let sizes = memory.pageset_sizes(zone);
    let (high, batch) = sizes.map_or((0, 0), |sizes| (sizes.high, u64::from(sizes.batch)));
    let cpus = (0..).map(CpuId).take(memory.map().cpus().len());
    cpus.map(move |cpu| (cpu, PagesetFigures { count: memory.parked(cpu, zone), high, batch }))
}

/// Frames above the high marks of all zones: `Total pages` of the boot log.
pub fn zonelist_pages<P: Platform>(memory: &MemorySubsystem<'_, P>) -> u64 {
    let zones = memory.zones().iter();
    zones.map(|zone| zone.managed().saturating_sub(zone.watermarks().high)).sum()
}

/// The highest zone that has frames on any node; `None` when none has.
pub fn policy_zone<P: Platform>(memory: &MemorySubsystem<'_, P>) -> Option<ZoneKind> {
    memory.zones().iter().map(|zone| zone.id().kind).max()
}
