//! A zone at run time, as all CPUs share it.

use super::managed::{Managed, range_of};
use super::span::{present_ranges, zone_span};
use super::{
    Cursor, FreeError, FreeFrames, FreeMap, RawMemory, ReleaseError, RowBatch, ShrinkError, ZoneId,
    ZoneKind, ZoneSpan,
};
use crate::platform::{CpuToken, PhysMap};
use crate::sync::{AtomicU64, Ordering::Relaxed};
use crate::topology::NodeMap;
use crate::units::{Order, Pfn, PfnRange, PhysRange};

/// The three watermarks, in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watermarks {
    /// Ordinary requests leave this much.
    pub min: u64,
    /// The first pass leaves this much.
    pub low: u64,
    /// Reclaim would stop here.
    pub high: u64,
}

/// A zone at run time. Shared by all CPUs.
///
/// Frames are reserved (not the allocator's), free, or taken. Who takes or puts has a
/// [`CpuToken`], so that no interrupt comes between two steps that others wait for. Counters are
/// plain numbers for readers: they order nothing, and so are `Relaxed`.
pub struct Zone<'m> {
    id: ZoneId,
    index: u16,
    span: PfnRange,
    metadata: PhysRange,
    frames: FreeMap<'m>,
    managed: AtomicU64,
    leaked: AtomicU64,
    watermarks: [AtomicU64; 3],
    protection: [AtomicU64; 3],
}

impl<'m> Zone<'m> {
    /// Bytes of metadata for a zone, which the caller provides on the zone's node, aligned to 64
    /// bytes: a multiple of 8. With them the zone can have `reserved` ranges of reserved frames
    /// between those that are released to it; more are [`ReleaseError::TooManyRanges`]. 0 for a zone
    /// without frames.
    pub fn metadata_bytes(map: &NodeMap<'_>, id: ZoneId, reserved: u64) -> u64 {
        match FreeMap::metadata_bytes(present_ranges(map, id)) {
            0 => 0,
            bytes => bytes.saturating_add(Managed::bytes_for(reserved)),
        }
    }

    /// Makes the zone, all frames reserved. `memory` holds garbage. `index` is the zone's place
    /// in its memory subsystem, for [`index`](Self::index). `None` when `memory` is smaller than
    /// [`metadata_bytes`](Self::metadata_bytes) with nothing reserved, or not aligned to 64 bytes.
    ///
    /// # Safety
    /// `memory` is RAM that is nobody else's for `'m`, and the platform's direct map of it lives
    /// as long.
    pub unsafe fn new<P: PhysMap>(
        map: &NodeMap<'_>,
        id: ZoneId,
        index: u16,
        memory: PhysRange,
        platform: &P,
    ) -> Option<Zone<'m>> {
        let ZoneSpan { span, .. } = zone_span(map, id);
        // SAFETY: the caller says that the memory is ours for `'m`; the platform maps all of it
        // at one pointer (`PhysMap`).
        let raw = unsafe { RawMemory::new(platform.phys_to_virt(memory.start), memory.len()) };
        let count = present_ranges(map, id).count() as u64;
        let frames = FreeMap::new(span, count, present_ranges(map, id), raw)?;
        Some(Zone {
            id,
            index,
            span,
            metadata: memory,
            frames,
            managed: AtomicU64::new(0),
            leaked: AtomicU64::new(0),
            watermarks: core::array::from_fn(|_| AtomicU64::new(0)),
            protection: core::array::from_fn(|_| AtomicU64::new(0)),
        })
    }

    /// Node and kind.
    pub fn id(&self) -> ZoneId {
        self.id
    }

    /// The zone's place among all zones, dense, from 0.
    pub fn index(&self) -> usize {
        usize::from(self.index)
    }

    /// From the zone's first frame to its last, holes included.
    pub fn span(&self) -> PfnRange {
        self.span
    }

    /// Frames with RAM of this zone.
    pub fn present(&self) -> u64 {
        self.ranges().iter().map(|range| range.len()).sum()
    }

    /// The contiguous ranges of RAM of the zone, ascending.
    pub fn ranges(&self) -> &'m [PfnRange] {
        self.frames.ranges()
    }

    /// Whether the frame is RAM of this zone.
    pub fn contains(&self, pfn: Pfn) -> bool {
        range_of(self.ranges(), pfn).is_some()
    }

    /// Where the zone's metadata is: RAM of its own node, reserved.
    pub fn metadata(&self) -> PhysRange {
        self.metadata
    }

    /// Frames that were released to the zone, free or not.
    pub fn managed(&self) -> u64 {
        self.managed.load(Relaxed)
    }

    /// Free frames; those parked in pagesets are not free. Never less than what can be taken:
    /// frames that a CPU is just taking or putting count as free.
    #[inline]
    pub fn free(&self) -> u64 {
        self.frames.free()
    }

    /// Free blocks of exactly each order, counted by reading all that describes the zone.
    pub fn block_counts(&self, token: &CpuToken) -> [u64; Order::COUNT] {
        self.frames.blocks(token)
    }

    /// Free blocks of exactly this order. It costs as much as [`block_counts`](Self::block_counts).
    pub fn blocks(&self, token: &CpuToken, order: Order) -> u64 {
        self.block_counts(token)[order.index()]
    }

    /// Whether this frame is free in the zone.
    pub fn is_free(&self, token: &CpuToken, frame: Pfn) -> bool {
        self.frames.is_free(token, frame)
    }

    /// Whether this frame was released to the zone: it is free, parked or taken.
    pub fn is_managed(&self, token: &CpuToken, frame: Pfn) -> bool {
        self.frames.is_managed(token, frame)
    }

    /// Gives reserved frames of this zone to it, as free; they count as managed from now on. The
    /// frames lie in one of the zone's [`ranges`](Self::ranges). Nothing changes on an error.
    ///
    /// # Safety
    /// Nobody uses the frames: they are RAM that was reserved for nothing.
    pub unsafe fn release(&self, token: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError> {
        self.frames.release(token, frames)?;
        self.managed.fetch_add(frames.len(), Relaxed);
        Ok(())
    }

    /// Takes a block; `None` when there is none. `cursor` is this CPU's own for this zone.
    #[inline]
    pub fn take(&self, token: &CpuToken, cursor: &Cursor, order: Order) -> Option<Pfn> {
        self.frames.take(token, cursor, order)
    }

    /// Takes single frames and adds them to `into`, which is empty: at most `wanted`, and fewer
    /// where they are scattered; says how many. 0 only when there is none.
    pub fn take_batch(
        &self,
        token: &CpuToken,
        cursor: &Cursor,
        wanted: u16,
        into: &mut RowBatch,
    ) -> u16 {
        self.frames.take_batch(token, cursor, wanted, into)
    }

    /// Puts a block back, or an aligned part of one. Nothing changes on an error.
    ///
    /// # Safety
    /// The block was taken from this zone, and nobody uses it any more.
    #[inline(never)]
    pub unsafe fn put(&self, token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError> {
        self.frames.put(token, block, order)
    }

    /// Puts single frames back. They were taken from this zone; if one was not, it is left out,
    /// the others are put back, and the first such error is returned.
    ///
    /// # Safety
    /// Nobody uses the frames any more.
    pub unsafe fn put_batch(&self, token: &CpuToken, frames: &RowBatch) -> Option<FreeError> {
        self.frames.put_batch(token, frames)
    }

    /// Takes `frames` neighbouring frames of one range, any number of them, the lowest there are:
    /// the first is a multiple of `align` frames, a power of two, and all lie within `limit`.
    /// `None` when there are none. What pagesets hold is not free: drain them first. It looks at
    /// all that describes the zone, if need be.
    pub fn take_contiguous(
        &self,
        token: &CpuToken,
        frames: u64,
        align: u64,
        limit: PfnRange,
    ) -> Option<Pfn> {
        self.frames.take_contiguous(token, frames, align, limit)
    }

    /// Puts neighbouring frames back: all that was taken, or any part. Nothing changes on an error.
    ///
    /// # Safety
    /// The frames were taken from this zone, and nobody uses them any more.
    pub unsafe fn put_range(&self, token: &CpuToken, frames: PfnRange) -> Result<(), FreeError> {
        self.frames.put_range(token, frames)
    }

    /// Takes free frames of one range off the zone: they are reserved from now on, the caller's, and
    /// not managed any more, until [`release`](Self::release) gives them back. Nothing changes on
    /// an error, which names the first frame in use.
    pub fn shrink(&self, token: &CpuToken, frames: PfnRange) -> Result<(), ShrinkError> {
        self.frames.shrink(token, frames)?;
        self.managed.fetch_sub(frames.len(), Relaxed);
        Ok(())
    }

    /// The watermarks.
    #[inline]
    pub fn watermarks(&self) -> Watermarks {
        let [min, low, high] = &self.watermarks;
        Watermarks { min: min.load(Relaxed), low: low.load(Relaxed), high: high.load(Relaxed) }
    }

    /// Sets the watermarks. Who reads meanwhile may see some of the old ones.
    pub fn set_watermarks(&self, marks: Watermarks) {
        for (slot, mark) in self.watermarks.iter().zip([marks.min, marks.low, marks.high]) {
            slot.store(mark, Relaxed);
        }
    }

    /// Frames that a request which could use zone `limit` leaves in this one (lowmem reserve).
    #[inline]
    pub fn protection(&self, limit: ZoneKind) -> u64 {
        self.protection[limit.index()].load(Relaxed)
    }

    /// Sets the protection against requests that could use zone `limit`.
    pub fn set_protection(&self, limit: ZoneKind, frames: u64) {
        self.protection[limit.index()].store(frames, Relaxed);
    }

    /// Frames of blocks that were dropped without being freed or leaked on purpose.
    pub fn leaked(&self) -> u64 {
        self.leaked.load(Relaxed)
    }

    /// Counts a dropped block.
    pub fn count_leaked(&self, frames: u64) {
        self.leaked.fetch_add(frames, Relaxed);
    }
}
