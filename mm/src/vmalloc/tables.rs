//! Frames for the page tables of vmalloc's addresses.

use crate::alloc::{MemorySubsystem, Request};
use crate::platform::{MapError, Mapping, Platform, TableFrames};
use crate::units::{Order, Pfn, VirtAddr};

use super::VmallocError;
use super::frame_list::FrameList;

/// Tables that one leaf may need at most: all levels but the topmost of four.
const MOST: usize = 3;

/// A stock of frames, so that nothing is allocated, and nobody waited for, while the platform
/// works on its tables. They come from the running CPU's node: table frames must not move the
/// turns of an interleave policy.
pub(super) struct TableStock<'a, 'm, P: Platform> {
    mm: &'a MemorySubsystem<'m, P>,
    spare: FrameList<'a, P>,
    returned: FrameList<'a, P>,
}

impl<'a, 'm, P: Platform> TableStock<'a, 'm, P> {
    pub(super) fn new(mm: &'a MemorySubsystem<'m, P>) -> Self {
        let list = || FrameList::new(mm.platform());
        TableStock { mm, spare: list(), returned: list() }
    }

    /// Maps one leaf, with as many tables as that takes.
    ///
    /// # Safety
    /// As [`PageTables::map`](crate::platform::PageTables::map).
    pub(super) unsafe fn map(&mut self, at: VirtAddr, leaf: Mapping) -> Result<(), VmallocError> {
        let mm = self.mm;
        // SAFETY: the caller's promise.
        let mut mapped = unsafe { mm.platform().map(at, leaf, self) };
        if mapped == Err(MapError::NoTableFrame) {
            self.fill()?;
            // SAFETY: as above.
            mapped = unsafe { mm.platform().map(at, leaf, self) };
        }
        mapped.map_err(|error| VmallocError::Map { at, error })
    }

    fn fill(&mut self) -> Result<(), VmallocError> {
        for _ in 0..MOST {
            let block = self.mm.alloc(&Request::new(Order::ZERO)).map_err(VmallocError::NoFrame)?;
            // SAFETY: allocated just now, and leaked to the list.
            unsafe { self.spare.push(block.leak(), Order::ZERO) };
        }
        Ok(())
    }

    /// Whether the platform gave tables back.
    pub(super) fn has_returned(&self) -> bool {
        !self.returned.is_empty()
    }

    /// Frees what is left. The caller has flushed what was unmapped.
    pub(super) fn finish(mut self) {
        self.spare.free(self.mm);
        self.returned.free(self.mm);
    }
}

impl<P: Platform> TableFrames for TableStock<'_, '_, P> {
    fn take(&mut self) -> Option<Pfn> {
        self.spare.pop().map(|(frame, _)| frame)
    }

    fn give_back(&mut self, frame: Pfn) {
        // SAFETY: the frame came from `take`, now or for an earlier area, and is in no table.
        unsafe { self.returned.push(frame, Order::ZERO) };
    }
}
