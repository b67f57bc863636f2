//! The page-table mapper and the TLB, as a platform provides them.

use core::ops::Range;

use crate::units::{Order, Pfn, VirtAddr};

/// The size of one leaf of the page tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapSize {
    /// 4 KiB.
    Small,
    /// 2 MiB.
    Huge,
}

impl MapSize {
    /// The order of the block that one leaf maps: 0 or 9.
    pub const fn order(self) -> Order {
        match self {
            MapSize::Small => Order::ZERO,
            MapSize::Huge => Order::HUGE,
        }
    }

    /// Bytes that one leaf maps.
    pub const fn bytes(self) -> u64 {
        self.order().bytes()
    }
}

/// One leaf: which frames are behind an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// First frame.
    pub pfn: Pfn,
    /// How much the leaf maps.
    pub size: MapSize,
}

/// Why nothing was mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapError {
    /// Something is mapped there already.
    Occupied,
    /// No frame for a page table could be had.
    NoTableFrame,
    /// Address or frame is not a multiple of the size.
    Misaligned,
    /// The address is outside what the platform maps for vmalloc.
    OutOfRange,
    /// The platform has no leaves of this size.
    Unsupported,
}

/// Where page tables get their frames from, and where they give them back to.
pub trait TableFrames {
    /// A frame for a page table, contents undefined; `None` when there is none.
    fn take(&mut self) -> Option<Pfn>;
    /// Takes back a frame that is in no page table any more. CPUs may still know the way to it:
    /// whoever implements this flushes before the frame goes elsewhere.
    fn give_back(&mut self, pfn: Pfn);
}

/// The kernel's own page tables, for the vmalloc range. Kernel mappings: read and write, never
/// executable, on all CPUs.
///
/// # Safety
/// After `map` succeeds, reads and writes of the mapped bytes reach the frame, until `unmap`.
pub unsafe trait PageTables {
    /// The addresses that are vmalloc's, for areas and the gaps between them; both ends are
    /// multiples of 2 MiB. Linux's 4-level layout: 32 TiB from 0xffffc90000000000.
    fn vmalloc_range(&self) -> Range<VirtAddr>;

    /// Whether 2 MiB leaves can be made.
    fn has_huge_leaves(&self) -> bool;

    /// Maps one leaf. Needs no TLB flush: nothing was there before.
    ///
    /// # Safety
    /// The frames belong to the caller, who uses them through this mapping only, and unmaps them
    /// (and flushes) before they go elsewhere. The caller keeps others off this address.
    unsafe fn map(
        &self,
        at: VirtAddr,
        leaf: Mapping,
        tables: &mut dyn TableFrames,
    ) -> Result<(), MapError>;

    /// Takes out the leaf at `at` and says what it was; `None` when there is none. Translations
    /// may live on in TLBs until they are flushed.
    ///
    /// # Safety
    /// Nobody uses the mapping any more. The caller keeps others off this address.
    unsafe fn unmap(&self, at: VirtAddr) -> Option<Mapping>;

    /// The leaf that maps `at`, if there is one. `at` may be anywhere in it; the mapping names the
    /// leaf's first frame.
    fn translate(&self, at: VirtAddr) -> Option<Mapping>;

    /// Takes the page tables that lie wholly within `start..end` and map nothing out of the tree
    /// and gives them back: a last-level table when its whole 2 MiB are within, and so on upward.
    /// Called after `unmap` and before the flush, which covers both. A platform may keep them all.
    ///
    /// # Safety
    /// Nobody maps anything in `start..end` until the caller has flushed it.
    unsafe fn reclaim(&self, start: VirtAddr, end: VirtAddr, tables: &mut dyn TableFrames);
}

/// Translation look-aside buffers.
///
/// # Safety
/// When `flush` returns, no CPU holds a translation of the range from before the call.
pub unsafe trait Tlb {
    /// Forgets all translations of `start..end` on all CPUs. Never called with a token held.
    fn flush(&self, start: VirtAddr, end: VirtAddr);
}
