//! Real pagesets in the place of the boot pagesets, their sizes, and where they are.

use crate::ids::{CpuId, NodeId};
use crate::pageset::{Pageset, PagesetSizes};
use crate::platform::CpuPlatform;
use crate::units::{Order, Pfn};
use crate::zone::{RawMemory, Zone, ZoneId};

use super::cpu_block::CpuBlock;
use super::slot::Slot;
use super::{
    AllocError, FrameBlock, MemorySubsystem, NumaCounters, PagesetPlacement, Policy, Request, Why,
};

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Gives every present CPU its real pagesets, one page for each zone, on the CPU's node or on
    /// the zone's ([`Options`](super::Options)), or the nearest node that has room. Until then
    /// each freed frame goes straight to its zone. NUMA counters begin at 0 again, as in Linux.
    ///
    /// # Errors
    /// No memory for some of them: these CPUs and zones keep the boot pageset. Calling it again
    /// makes those that are missing.
    pub fn set_up_pagesets(&self) -> Result<(), AllocError> {
        self.set_up_pagesets_explained(&mut |_, _| ())
    }

    /// The same; tells `elsewhere` of each pageset, by its CPU, that is not where it should be.
    ///
    /// # Errors
    /// As [`set_up_pagesets`](Self::set_up_pagesets).
    pub fn set_up_pagesets_explained(
        &self,
        elsewhere: &mut dyn FnMut(CpuId, &Why),
    ) -> Result<(), AllocError> {
        let mut result = Ok(());
        for &block in self.cpus {
            for slot in block.slots.iter().filter(|slot| slot.pageset().is_none()) {
                let node = match self.options.pagesets {
                    PagesetPlacement::Local => block.node,
                    PagesetPlacement::Zone => slot.id().node,
                };
                let request = Request::new(Order::ZERO).on(Policy::Preferred(node));
                let (page, why) = self.alloc_explained(&request);
                if why.is_fallback() {
                    elsewhere(block.cpu, &why);
                }
                match page {
                    Ok(page) => self.install_pageset(block, slot, page),
                    Err(error) => result = Err(error),
                }
            }
        }
        for block in self.cpus {
            for slot in block.slots {
                slot.counters.clear();
                slot.pageset().inspect(|pageset| pageset.served().set(0));
            }
        }
        result
    }

    fn install_pageset(&self, block: &CpuBlock<'m>, slot: &Slot<'m>, page: FrameBlock<'m>) {
        let sizes = self.sizes_of(slot.zone());
        // SAFETY: the page was just allocated from this subsystem. When the pageset is installed the
        // page is leaked, so that it is the pageset's for `'m`; else it is freed, and nobody keeps
        // a reference to the pageset.
        let mut memory =
            unsafe { RawMemory::new(page.as_ptr(&self.platform), page.order().bytes()) };
        let (zone, index, first) = (slot.zone(), slot.index(), slot.first());
        let pageset =
            memory.slice(1, |_| Some(Pageset::new(zone, index, page.pfn(), first, sizes)));
        let Some([pageset]) = pageset else { return };
        if block.install(index, pageset) {
            page.leak();
        } else {
            // Another CPU was faster. Cannot fail: the page is of this subsystem.
            let _ = self.free(page);
        }
    }

    /// Batch and high of the pagesets of a zone, by the formulas; `None` when the zone has no
    /// frames.
    pub fn pageset_sizes(&self, zone: ZoneId) -> Option<PagesetSizes> {
        self.zone(zone).map(|zone| self.sizes_of(zone))
    }

    fn sizes_of(&self, zone: &Zone<'_>) -> PagesetSizes {
        let own = self.nodes.get(zone.id().node.index()).map_or(0, |entry| usize::from(entry.cpus));
        let sharing = if own == 0 { self.map.cpus().len() } else { own };
        PagesetSizes::of_zone(zone.managed(), zone.watermarks().low, sharing as u64)
    }

    /// Brings all pagesets to their sizes, after a zone or its watermarks changed: when
    /// anything changes all are drained, by which their CPUs see to it.
    pub(super) fn resize_pagesets(&self) {
        let mut stale = false;
        for slot in self.cpus.iter().flat_map(|block| block.slots) {
            if let Some(pageset) = slot.pageset() {
                pageset.resize(self.sizes_of(slot.zone()));
                stale |= pageset.is_stale();
            }
        }
        if stale {
            self.drain_all();
        }
    }

    /// The frame that a CPU's pageset of a zone fills; `None` while it is the boot pageset.
    pub fn pageset_frame(&self, cpu: CpuId, zone: ZoneId) -> Option<Pfn> {
        Some(self.slot(cpu, zone)?.pageset()?.frame())
    }

    /// How many frames of a zone a CPU has parked. A guess while that CPU works.
    pub fn parked(&self, cpu: CpuId, zone: ZoneId) -> u64 {
        self.slot(cpu, zone).map_or(0, |slot| u64::from(slot.parked()))
    }

    /// How many frames of a zone are parked, all CPUs together.
    pub fn parked_in(&self, zone: ZoneId) -> u64 {
        self.pagesets_of(zone).map(|pageset| u64::from(pageset.parked())).sum()
    }

    /// How many frames of a zone can be parked at most, all CPUs together: what the pagesets hold
    /// when each is one short of its limit and keeps every block that it can.
    pub fn parked_bound(&self, zone: ZoneId) -> u64 {
        self.pagesets_of(zone).map(|pageset| u64::from(pageset.bound())).sum()
    }

    /// Pages that pagesets fill, all CPUs and zones together.
    pub fn pageset_pages(&self) -> u64 {
        self.cpus
            .iter()
            .flat_map(|block| block.slots)
            .filter(|slot| slot.pageset().is_some())
            .count() as u64
    }

    /// What all CPUs counted about the zones of a node.
    pub fn node_counters(&self, node: NodeId) -> NumaCounters {
        let zones = self.zones.iter().filter(|zone| zone.id().node == node);
        let mut sum = NumaCounters::default();
        zones.for_each(|zone| sum += self.zone_counters(zone.id()));
        sum
    }

    /// What all CPUs counted about a zone.
    pub fn zone_counters(&self, zone: ZoneId) -> NumaCounters {
        let blocks = self.cpus.iter().chain([&self.outsider]);
        let mut sum = NumaCounters::default();
        for block in blocks {
            let Some(slot) = block.slot(zone.node, zone.kind) else { continue };
            let parked = slot.pageset().map_or(0, |pageset| pageset.served().get());
            sum += slot.counters.read(parked, block.node == zone.node);
        }
        sum
    }

    fn pagesets_of(&self, zone: ZoneId) -> impl Iterator<Item = &'m Pageset<'m>> + '_ {
        self.cpus.iter().filter_map(move |block| block.slot(zone.node, zone.kind)?.pageset())
    }
}
