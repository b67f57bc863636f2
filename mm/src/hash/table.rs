//! A table's memory, and what is known of it.

use core::marker::PhantomData;

use crate::alloc::{FrameBlock, MemorySubsystem};
use crate::ids::NodeId;
use crate::platform::Platform;
use crate::units::{Order, PAGE_SIZE, Pfn};
use crate::vmalloc::{VmArea, Vmalloc};

use super::info::TableInfo;

/// Memory of a table, whose owner it is. Tables stay for good: one that is dropped is lost.
///
/// [`SystemHash`](super::SystemHash) makes buckets of it.
#[must_use = "a dropped table is lost"]
pub struct Table<'m, P: Platform> {
    pub(super) info: TableInfo,
    pub(super) bucket_bytes: u64,
    /// Whether it was filled with zeros.
    pub(super) zeroed: bool,
    pub(super) memory: TableMemory<'m, P>,
}

/// Where the memory came from.
pub(super) enum TableMemory<'m, P: Platform> {
    /// Boot memory of this node, for as long as `'m`.
    Boot { node: NodeId, life: PhantomData<&'m ()> },
    /// Frames in one piece.
    Linear { mm: &'m MemorySubsystem<'m, P>, first: Pfn, pages: u64 },
    /// Frames behind one range of addresses.
    Vmalloc { vmalloc: &'m Vmalloc<'m, P>, area: VmArea<'m> },
}

impl<'m, P: Platform> Table<'m, P> {
    /// Its figures.
    pub fn info(&self) -> &TableInfo {
        &self.info
    }

    /// Its first byte; [`TableInfo::bytes`] are good as long as the table is there.
    pub fn as_ptr(&self) -> *mut u8 {
        self.info.address.as_ptr()
    }

    /// Its 4 KiB pages by node, ascending, nodes without any left out. An early table counts the
    /// pages that its bytes fill, rounded up, though it may share the last one. Of a table in
    /// vmalloc space the page tables are walked.
    pub fn pages_by_node(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        let pages = self.info.bytes.div_ceil(PAGE_SIZE);
        let (node, area) = match &self.memory {
            TableMemory::Boot { node, .. } => (Some(*node), None),
            TableMemory::Linear { mm, first, .. } => (mm.map().node_of(*first), None),
            TableMemory::Vmalloc { vmalloc, area } => (None, Some((vmalloc, area.info()))),
        };
        let of_area = area.map(|(vmalloc, area)| vmalloc.pages_by_node(&area));
        node.map(|node| (node, pages)).into_iter().chain(of_area.into_iter().flatten())
    }

    /// Frees the memory; a table that is early comes back, since boot memory is given out for
    /// good.
    #[allow(clippy::result_large_err)] // Nothing is allocated to move a table.
    pub fn free(self) -> Result<(), Self> {
        match self.memory {
            TableMemory::Boot { .. } => return Err(self),
            TableMemory::Linear { mm, first, pages } => free_run(mm, first, pages),
            TableMemory::Vmalloc { vmalloc, area } => {
                let freed = vmalloc.free(area);
                debug_assert_eq!(freed, Ok(()), "the area is of this vmalloc");
            }
        }
        Ok(())
    }
}

impl<P: Platform> core::fmt::Debug for Table<'_, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.info.fmt(f)
    }
}

/// Keeps the first `pages` frames of a block, leaked, and frees the rest.
pub(super) fn keep_first<P: Platform>(
    mm: &MemorySubsystem<'_, P>,
    block: FrameBlock<'_>,
    pages: u64,
) {
    if pages >= block.order().pages() {
        block.leak();
        return;
    }
    let (low, high) = match block.into_halves() {
        Ok(halves) => halves,
        Err(single) => {
            single.leak();
            return;
        }
    };
    let half = low.order().pages();
    if pages > half {
        low.leak();
        keep_first(mm, high, pages - half);
    } else {
        // It was allocated from `mm` and is a part of it: there is no reason to refuse it.
        let _ = mm.free(high);
        keep_first(mm, low, pages);
    }
}

/// Frees frames that [`keep_first`] kept, as the largest aligned blocks that they make up.
fn free_run<P: Platform>(mm: &MemorySubsystem<'_, P>, first: Pfn, pages: u64) {
    let (mut at, end) = (first, first + pages);
    while at < end {
        let fits = |order: &Order| at.is_aligned(*order) && order.pages() <= end - at;
        let order = Order::all().rev().find(fits).unwrap_or(Order::ZERO);
        // SAFETY: the frames were leaked by `keep_first` and belonged to the table alone.
        let block = unsafe { FrameBlock::from_raw(mm, at, order) };
        let freed = block.and_then(|block| mm.free(block));
        debug_assert_eq!(freed, Ok(()), "the table's own frames are free to be freed");
        at = at + order.pages();
    }
}
