//! vmalloc: scattered frames, mapped into one range of addresses.
//!
//! In: a size, a policy, and whether zeros and 2 MiB pages are wanted. Out: a [`VmArea`], which
//! whoever asked owns, or a [`VmallocError`] that says what was missing, with nothing left behind.
//!
//! ```text
//! request   what is asked for           areas      which addresses are in use (records in a slab)
//! fill      frames, in the policy's     tables     frames for page tables
//!           order, into the area        node_pages pages of an area by node
//! ```
//!
//! The rules are Linux's (reference: vmalloc), with these differences: an area's frames are found
//! through the page tables, so there is no array of pages; freeing flushes the TLB before a frame
//! or an address goes elsewhere, each time; empty page tables are given back.
//!
//! ```
//! use nearmem::alloc::{Interleave, Policy};
//! use nearmem::sim::SimMachine;
//! use nearmem::vmalloc::{VmRequest, Vmalloc};
//!
//! let machine = SimMachine::builder().node(64 << 20, 2).node(64 << 20, 2).build();
//! let map = machine.map();
//! let mm = machine.start(&map, Default::default());
//! let vmalloc = Vmalloc::new(&mm);
//!
//! let turns = Interleave::new(*map.with_memory());
//! let request = VmRequest::new(1 << 20).on(Policy::Interleave(&turns)).zeroed();
//! let area = vmalloc.alloc(&request)?;
//! let pages: Vec<_> = vmalloc.pages_by_node(&area.info()).map(|(_, pages)| pages).collect();
//! assert_eq!(pages, [128, 128]);
//! // SAFETY: the area has 1 MiB, which nobody else uses.
//! assert_eq!(unsafe { area.as_ptr::<u8>().add((1 << 20) - 1).read() }, 0);
//! vmalloc.free(area)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod area;
mod areas;
mod fill;
mod frame_list;
mod node_pages;
mod request;
mod slab;
mod tables;

use crate::alloc::{MemorySubsystem, Policy, Request};
use crate::ids::NodeId;
use crate::platform::{MapSize, Platform};
use crate::sync::{AtomicU64, Ordering, SpinLock};
use crate::units::{Order, PAGE_SIZE, VirtAddr};

use areas::{Areas, ReserveError, State};
use fill::Fill;
use frame_list::FrameList;
use tables::TableStock;

pub use area::{AreaInfo, VmArea};
pub use request::{VfreeError, VmRequest, VmallocError};

/// The vmalloc of one memory subsystem. There is one for each platform: two would be refused each
/// other's addresses by the page tables.
///
/// It uses 2 MiB pages for a request that allows them when the platform has such leaves and
/// every online node would get one ([`Policy::Preferred`]: when the node would). When one of the
/// blocks cannot be had, the whole area is made of 4 KiB pages.
///
/// Nothing here is called with a token held or from an interrupt handler.
pub struct Vmalloc<'m, P: Platform> {
    mm: &'m MemorySubsystem<'m, P>,
    areas: SpinLock<Areas>,
    lost: AtomicU64,
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

    fn build(&self, request: &VmRequest<'_>, leaf: MapSize) -> Result<VmArea<'_>, VmallocError> {
        let no_addresses = VmallocError::NoAddresses { bytes: request.bytes };
        let bytes = request.bytes.checked_next_multiple_of(leaf.bytes()).ok_or(no_addresses)?;
        let start = self.reserve(bytes, leaf, request.caller)?;
        let mut fill = Fill {
            mm: self.mm,
            tables: TableStock::new(self.mm),
            at: start,
            end: start + bytes,
            zero: request.zero,
        };
        let filled = match leaf {
            MapSize::Small => fill.small(request),
            MapSize::Huge => fill.huge(request),
        };
        let Fill { at, tables, .. } = fill;
        tables.finish();
        match filled {
            Ok(()) => {
                self.areas.lock().publish(start);
                let info = AreaInfo { start, bytes, leaf, caller: request.caller };
                Ok(VmArea::new(info, &self.lost))
            }
            Err(error) => {
                self.areas.lock().abandon(start);
                self.tear_down(start, at);
                Err(error)
            }
        }
    }

    /// Takes addresses. Frames for the records of areas come from the running CPU's node, and not
    /// with the lock held: who allocates may have to wait for another CPU.
    fn reserve(
        &self,
        bytes: u64,
        leaf: MapSize,
        caller: &'static str,
    ) -> Result<VirtAddr, VmallocError> {
        loop {
            match self.areas.lock().reserve(bytes, leaf, caller) {
                Ok(start) => return Ok(start),
                Err(ReserveError::NoAddresses) => return Err(VmallocError::NoAddresses { bytes }),
                Err(ReserveError::NoRecord) => {}
            }
            let block = self.mm.alloc(&Request::new(Order::ZERO)).map_err(VmallocError::NoFrame)?;
            let memory = block.as_ptr(self.mm.platform());
            // SAFETY: allocated just now; freed when `release` returns it.
            unsafe { self.areas.lock().add_frame(block.leak(), memory) };
        }
    }

    /// Unmaps `start..end` of the area at `start`, which is on its way out, flushes, frees the
    /// frames and lets the addresses go, in this order.
    fn tear_down(&self, start: VirtAddr, end: VirtAddr) {
        let platform = self.mm.platform();
        let mut frames = FrameList::new(platform);
        let mut tables = TableStock::new(self.mm);
        let mut at = start;
        while at < end {
            // SAFETY: the area's owner gave it up, and its addresses are still taken.
            match unsafe { platform.unmap(at) } {
                Some(leaf) => {
                    // SAFETY: the frames were the area's alone. What may still reach them through
                    // a TLB is the former owner's, who has given them up.
                    unsafe { frames.push(leaf.pfn, leaf.size.order()) };
                    at = at + leaf.size.bytes();
                }
                None => at = at + PAGE_SIZE,
            }
        }
        let held = self.areas.lock().held(start).unwrap_or(start..end);
        // SAFETY: the area holds these addresses until it is released, below, after the flush.
        unsafe { platform.reclaim(held.start, held.end, &mut tables) };
        if end > start || tables.has_returned() {
            platform.flush(start, end.max(start + PAGE_SIZE));
        }
        free_frames(self.mm, &mut frames);
        tables.finish();
        let frame = self.areas.lock().release(start);
        if let Some(frame) = frame {
            // SAFETY: from `reserve`; the slab has forgotten it.
            unsafe { fill::free(self.mm, frame, Order::ZERO) };
        }
    }
}

/// Frees all blocks of a list. They were flushed out of all TLBs before.
fn free_frames<P: Platform>(mm: &MemorySubsystem<'_, P>, list: &mut FrameList<'_, P>) {
    while let Some((pfn, order)) = list.pop() {
        // SAFETY: blocks of a list of vmalloc's are allocated, leaked, and in no mapping.
        unsafe { fill::free(mm, pfn, order) };
    }
}
