//! Requests to areas, and the way back.

use crate::alloc::{MemorySubsystem, Policy};
use crate::ids::NodeId;
use crate::platform::{MapSize, Platform};
use crate::sync::{AtomicU64, Ordering, SpinLock};
use crate::units::{PAGE_SIZE, VirtAddr};

use super::areas::{Areas, State};
use super::{AreaInfo, VfreeError, VmArea, VmRequest, VmallocError, node_pages};

/// The vmalloc of one memory subsystem. There is one for each platform: two would be refused each
/// other's addresses by the page tables.
///
/// It uses 2 MiB pages for a request that allows them when the platform has such leaves and
/// every online node would get one ([`Policy::Preferred`]: when the node would). When one of the
/// blocks cannot be had, the whole area is made of 4 KiB pages.
///
/// Nothing here is called with a token held or from an interrupt handler.
pub struct Vmalloc<'m, P: Platform> {
    pub(super) mm: &'m MemorySubsystem<'m, P>,
    pub(super) areas: SpinLock<Areas>,
    pub(super) lost: AtomicU64,
}

impl<'m, P: Platform> Vmalloc<'m, P> {
    /// An empty window.
    pub fn new(mm: &'m MemorySubsystem<'m, P>) -> Vmalloc<'m, P> {
        let areas = Areas::new(mm.platform().vmalloc_range());
        Vmalloc { mm, areas: SpinLock::new(areas), lost: AtomicU64::new(0) }
    }

    /// Where the frames come from.
    pub fn memory(&self) -> &'m MemorySubsystem<'m, P> {
        self.mm
    }

    /// Allocates an area.
    ///
    /// # Errors
    /// Says what was missing. Frames, page tables and addresses that had been taken are given
    /// back; the turns of an interleave policy stay where they are.
    pub fn alloc(&self, request: &VmRequest<'_>) -> Result<VmArea<'_>, VmallocError> {
        let bytes = request.bytes;
        let memory = self.mm.zones().iter().map(|zone| zone.managed()).sum::<u64>() * PAGE_SIZE;
        if bytes == 0 {
            return Err(VmallocError::Empty);
        }
        if bytes > memory {
            return Err(VmallocError::TooLarge { bytes, memory });
        }
        if self.wants_huge(request)
            && let Ok(area) = self.build(request, MapSize::Huge)
        {
            return Ok(area);
        }
        self.build(request, MapSize::Small)
    }

    /// Frees an area: its translations go first, on all CPUs, then its frames.
    ///
    /// # Errors
    /// [`VfreeError::Foreign`]: the area is another vmalloc's, which counts it as lost.
    pub fn free(&self, area: VmArea<'_>) -> Result<(), VfreeError> {
        if !core::ptr::eq(area.lost, &self.lost) {
            return Err(VfreeError::Foreign);
        }
        let at = area.leak();
        let freed = self.areas.lock().begin_free(at).ok_or(VfreeError::NoArea { at })?;
        self.tear_down(at, freed.start + freed.bytes);
        Ok(())
    }

    /// The raw door: the area that starts at `at`.
    ///
    /// # Errors
    /// [`VfreeError::NoArea`]: no live area starts there.
    ///
    /// # Safety
    /// The area was leaked, and nobody else claims it.
    pub unsafe fn from_raw(&self, at: VirtAddr) -> Result<VmArea<'_>, VfreeError> {
        let area = self.areas.lock().at_or_after(at);
        let area = area.filter(|area| area.start == at && area.state == State::Live);
        let info = area.map(|area| AreaInfo::new(&area)).ok_or(VfreeError::NoArea { at })?;
        Ok(VmArea::new(info, &self.lost))
    }

    /// All areas that are whole, by address. Areas that come and go meanwhile may be left out.
    pub fn areas(&self) -> impl Iterator<Item = AreaInfo> + '_ {
        let mut from = VirtAddr(0);
        core::iter::from_fn(move || {
            loop {
                // The lock is not held while the caller looks at an area.
                let area = self.areas.lock().at_or_after(from)?;
                from = area.start + 1;
                if area.state == State::Live {
                    return Some(AreaInfo::new(&area));
                }
            }
        })
    }

    /// 4 KiB pages of an area by node, ascending, nodes without any left out. Walks the page
    /// tables: once, with more than 64 nodes once for each 64.
    pub fn pages_by_node<'a>(
        &'a self,
        area: &AreaInfo,
    ) -> impl Iterator<Item = (NodeId, u64)> + use<'a, 'm, P> {
        node_pages::pages_by_node(self.mm, area.start..area.start + area.bytes)
    }

    /// How many areas there are, those that come or go at the moment included.
    pub fn area_count(&self) -> usize {
        self.areas.lock().count()
    }

    /// How many areas were dropped without being freed or leaked on purpose.
    pub fn lost_areas(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Whether an area of this request gets 2 MiB pages (reference: vmalloc, section 4).
    fn wants_huge(&self, request: &VmRequest<'_>) -> bool {
        let share = match request.policy {
            Policy::Preferred(_) => request.bytes,
            _ => request.bytes / (self.mm.map().online().len() as u64).max(1),
        };
        request.allow_huge && share >= MapSize::Huge.bytes() && self.mm.platform().has_huge_leaves()
    }
}
