//! The memory subsystem of one machine, and what can be read of it.
use crate::ids::{CpuId, NodeId};
use crate::platform::{CpuPlatform, CpuToken};
use crate::topology::NodeMap;
use crate::units::{Order, PAGE_SIZE, Pfn, PhysRange};
use crate::zone::{FreeError, Zone, ZoneId, ZoneKind};

use super::cpu_block::CpuBlock;
use super::hand_over::{HandOverReport, zone_index};
use super::nodes::NodeEntry;
use super::slot::Slot;
use super::{CHECKED, LocalCpu, Options};

/// Zones, pagesets and zonelists of one machine. A value: nothing of it is static.
///
/// All that it points to lies in what was boot memory, each part on the node that uses it.
pub struct MemorySubsystem<'m, P: CpuPlatform> {
    pub(super) platform: P,
    pub(super) map: &'m NodeMap<'m>,
    pub(super) zones: &'m [&'m Zone<'m>],
    pub(super) nodes: &'m [NodeEntry<'m>],
    pub(super) cpus: &'m [&'m CpuBlock<'m>],
    /// For CPUs that the map does not know.
    pub(super) outsider: &'m CpuBlock<'m>,
    pub(super) options: Options,
    pub(super) report: HandOverReport,
}

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Interrupts off: the proof for [`try_alloc`](Self::try_alloc) and
    /// [`try_free`](Self::try_free).
    #[inline]
    pub fn pin(&self) -> LocalCpu<'m, P> {
        let pin = self.platform.pin();
        // SAFETY: only the line below writes the word, as `hand_over` demands: null, or the block
        // of this CPU in this subsystem, which lives for `'m`.
        let block =
            unsafe { self.platform.local(pin.as_ref()).get().cast::<CpuBlock<'m>>().as_ref() };
        let block = block.unwrap_or_else(|| self.settle(pin.as_ref()));
        LocalCpu::new(pin, block)
    }

    /// Tells this CPU where its block is.
    #[cold]
    #[inline(never)]
    fn settle(&self, token: &CpuToken) -> &'m CpuBlock<'m> {
        let block: &'m CpuBlock<'m> = self.cpus.get(token.cpu().index()).unwrap_or(&self.outsider);
        self.platform.local(token).set(core::ptr::from_ref(block).cast());
        block
    }

    /// The platform.
    pub fn platform(&self) -> &P {
        &self.platform
    }

    /// The node map.
    pub fn map(&self) -> &'m NodeMap<'m> {
        self.map
    }

    /// What was chosen at the hand-over.
    pub fn options(&self) -> Options {
        self.options
    }

    /// What the hand-over did.
    pub fn hand_over_report(&self) -> HandOverReport {
        self.report
    }

    /// All zones that have frames, by node and kind, ascending.
    pub fn zones(&self) -> &'m [&'m Zone<'m>] {
        self.zones
    }

    /// A zone; `None` when it has no frames.
    pub fn zone(&self, id: ZoneId) -> Option<&'m Zone<'m>> {
        self.zones.get(usize::from(zone_index(self.nodes, id)?)).copied()
    }

    /// Whose frame this is; `None` for what is no RAM.
    pub fn zone_of(&self, pfn: Pfn) -> Option<&'m Zone<'m>> {
        self.find_zone(pfn).map(|(zone, _)| zone)
    }

    /// Nodes by distance from `node`, itself first (memory or not), then those with memory. Empty
    /// for a node that does not exist.
    pub fn fallback_order(&self, node: NodeId) -> &'m [NodeId] {
        self.nodes.get(node.index()).map_or(&[], |entry| entry.order)
    }

    /// Where each zone keeps its metadata, the zone itself included.
    pub fn zone_metadata(&self) -> impl Iterator<Item = (ZoneId, PhysRange)> + '_ {
        self.zones.iter().map(|zone| {
            let PhysRange { start, end } = zone.metadata();
            (zone.id(), PhysRange { start, end: end + size_of::<Zone<'_>>() as u64 })
        })
    }

    /// Where a CPU's block lies; `None` when the CPU is not present.
    pub fn cpu_block(&self, cpu: CpuId) -> Option<PhysRange> {
        self.cpus.get(cpu.index()).map(|block| block.memory)
    }

    pub(super) fn slot(&self, cpu: CpuId, zone: ZoneId) -> Option<&'m Slot<'m>> {
        self.cpus.get(cpu.index())?.slot(zone.node, zone.kind)
    }

    /// The zone that has this frame, with its index.
    pub(super) fn find_zone(&self, pfn: Pfn) -> Option<(&'m Zone<'m>, u16)> {
        let node = self.map.node_of(pfn)?;
        let kind = ZoneKind::ALL.into_iter().find(|kind| kind.frames().contains(pfn))?;
        let index = zone_index(self.nodes, ZoneId { node, kind })?;
        let zone = *self.zones.get(usize::from(index))?;
        zone.contains(pfn).then_some((zone, index))
    }

    /// What is wrong with a frame that is in no zone.
    pub(super) fn why_no_zone(&self, pfn: Pfn) -> FreeError {
        match self.zones.iter().any(|zone| zone.span().contains(pfn)) {
            true => FreeError::Hole { pfn },
            false => FreeError::OutOfRange { pfn },
        }
    }

    /// Whether a block can be an allocated one of this zone, as far as can be found out.
    pub(super) fn check_taken(
        &self,
        token: &CpuToken,
        zone: &Zone<'_>,
        pfn: Pfn,
        order: Order,
    ) -> Result<(), FreeError> {
        if !pfn.is_aligned(order) {
            return Err(FreeError::Misaligned { pfn, order });
        }
        for frame in (0..order.pages()).map(|at| pfn + at) {
            if !zone.contains(frame) {
                return Err(match zone.span().contains(frame) {
                    true => FreeError::Hole { pfn: frame },
                    false => FreeError::OutOfRange { pfn: frame },
                });
            }
            if !zone.is_managed(token, frame) {
                return Err(FreeError::Reserved { pfn: frame });
            }
            if zone.is_free(token, frame) {
                return Err(FreeError::AlreadyFree { pfn: frame });
            }
            if CHECKED && self.is_parked(zone.id(), frame) {
                return Err(FreeError::Parked { pfn: frame });
            }
        }
        Ok(())
    }

    /// Whether a frame lies in a pageset. Exact while no other CPU works on the zone.
    fn is_parked(&self, zone: ZoneId, frame: Pfn) -> bool {
        self.cpus.iter().any(|block| {
            block
                .slot(zone.node, zone.kind)
                .and_then(|slot| slot.pageset())
                .is_some_and(|pageset| pageset.holds(frame))
        })
    }
}

/// Frames to kB.
pub(super) const fn kilobytes(frames: u64) -> u64 {
    frames.saturating_mul(PAGE_SIZE / 1024)
}
