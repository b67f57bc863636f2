//! How an area comes and goes: addresses, frames, mapping; and back in the other order.

use crate::alloc::Request;
use crate::platform::{MapSize, Platform};
use crate::units::{Order, PAGE_SIZE, VirtAddr};

use super::areas::ReserveError;
use super::fill::{Fill, free};
use super::frame_list::FrameList;
use super::tables::TableStock;
use super::{AreaInfo, VmArea, VmRequest, Vmalloc, VmallocError};

impl<P: Platform> Vmalloc<'_, P> {
    /// An area of leaves of one size, whole, or nothing.
    pub(super) fn build(
        &self,
        request: &VmRequest<'_>,
        leaf: MapSize,
    ) -> Result<VmArea<'_>, VmallocError> {
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
    pub(super) fn tear_down(&self, start: VirtAddr, end: VirtAddr) {
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
        frames.free(self.mm);
        tables.finish();
        let frame = self.areas.lock().release(start);
        if let Some(frame) = frame {
            // SAFETY: from `reserve`; the slab has forgotten it.
            unsafe { free(self.mm, frame, Order::ZERO) };
        }
    }
}
