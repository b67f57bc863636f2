//! A zone's free frames without a lock: a bit for each frame, a counter for each block of 512, a
//! sum for each region of 32 blocks.
//!
//! ```text
//! row     64 frames   u64    a set bit is a free frame
//! block   8 rows      u16    free frames not promised; TAKEN, BITS, BUSY, PART
//! region  32 blocks   u32    free frames, whole blocks, who works here
//! area    regions            one contiguous range; the frontier: how many regions are initialised
//! zone    areas       u64    free frames; under a lock, the list of managed ranges
//! ```
//!
//! The arrays lie in the zone's metadata, on its node: 0.129 bytes for each frame. They begin with
//! garbage. Boot writes the list of managed ranges and nothing else; a region's word and its 32
//! entries are written when the region is first used, the rows of a block when the block is first
//! split. Above the frontier a frame is free if, and only if, it is managed.
//!
//! # Invariants
//!
//! * **I1: the entry is the authority.** Who takes first lowers the entry's count, which is a
//!   promise, and then claims bits; who frees first sets bits and then raises the count. So at
//!   every moment: set bits >= count + what was promised and not claimed yet. Whoever was promised
//!   single frames finds them. A run of several may not be there; then the promise is given back.
//! * **I2: sums are never too low.** The zone's free frames, the region's free frames and its
//!   whole blocks are raised before the entry is, and lowered after it was. So they never wrap, and
//!   a region that says 0 has nothing. At rest they are equal to the sums over the entries.
//! * **I3: rows mean something only with BITS,** and without TAKEN and BUSY. A block that is whole
//!   or wholly reserved may have rows that were never written; those of a TAKEN block are stale.
//!   Whoever needs them written sets BUSY, writes all eight, and publishes the entry. Meanwhile
//!   takers pass the block over; who frees a part of it waits for eight stores by a CPU whose
//!   interrupts are off.
//! * **I4: cursor and owner are hints.** Any CPU may take from any region at any time.
//!
//! A count of 512 leaves no open promise and no frame whose bit is set but not counted: they would
//! be frames beyond the 512. So a whole block can be taken by its entry alone.
//!
//! What can still be seen: a taker that meets promises which are given back a moment later, near
//! exhaustion, finds nothing. It is as if it had come a moment earlier.

mod area;
mod batch;
mod block;
mod count;
mod entry;
mod exact;
mod first_use;
mod huge;
mod lowest;
mod open;
mod put;
mod region;
mod row;
mod search;
mod take;

pub use block::Block;

use self::area::Area;
use self::lowest::Lowest;
use self::put::NotTaken;
use self::region::{REGION_BLOCKS, RegionWord};
use super::layout::Layout;
use super::managed::Managed;
use super::{Cursor, FreeError, FreeFrames, RawMemory, ReleaseError, RowBatch, ShrinkError};
use crate::platform::CpuToken;
use crate::sync::{AtomicU64, Ordering::Relaxed, SpinLock};
use crate::units::{Order, Pfn, PfnRange};

/// The free frames of a zone. See the module's description.
pub struct FreeMap<'m> {
    ranges: &'m [PfnRange],
    areas: &'m [Area<'m>],
    managed: SpinLock<Managed<'m>>,
    /// Relaxed throughout: a sum, whose place between other steps (I2) the entries keep.
    free: AtomicU64,
    lowest: Lowest,
}

impl<'m> FreeFrames<'m> for FreeMap<'m> {
    fn metadata_bytes(ranges: impl Iterator<Item = PfnRange>) -> u64 {
        Layout::<Area<'_>>::bytes(ranges, Area::metadata_bytes)
    }

    fn new(
        span: PfnRange,
        count: u64,
        ranges: impl Iterator<Item = PfnRange>,
        memory: RawMemory<'m>,
    ) -> Option<Self> {
        let Layout { ranges, managed, areas } =
            Layout::new(span, count, ranges, memory, Area::new)?;
        let managed = SpinLock::new(managed);
        Some(FreeMap { ranges, areas, managed, free: AtomicU64::new(0), lowest: Lowest::new() })
    }

    fn ranges(&self) -> &'m [PfnRange] {
        self.ranges
    }

    fn release(&self, _token: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError> {
        if frames.is_empty() {
            return Ok(());
        }
        let mut managed = self.managed.lock();
        let at = managed.release(frames)?;
        self.free.fetch_add(frames.len(), Relaxed);
        if let Some(area) = self.areas.get(at) {
            area.open(frames, &managed);
        }
        Ok(())
    }

    fn take(&self, token: &CpuToken, cursor: &Cursor, order: Order) -> Option<Pfn> {
        let block = if order < Order::HUGE {
            self.small(token.cpu(), cursor, order.pages() as u16, |block, start| {
                block.take(order).map(|first| start + u64::from(first))
            })
        } else {
            self.huge(token.cpu(), cursor, order)
        };
        let block = block?;
        self.free.fetch_sub(order.pages(), Relaxed);
        Some(block)
    }

    fn take_batch(
        &self,
        token: &CpuToken,
        cursor: &Cursor,
        wanted: u16,
        into: &mut RowBatch,
    ) -> u16 {
        self.take_singles(token.cpu(), cursor, wanted, into)
    }

    #[inline]
    fn put(&self, _token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError> {
        if !block.is_aligned(order) {
            return Err(FreeError::Misaligned { pfn: block, order });
        }
        self.free.fetch_add(order.pages(), Relaxed);
        self.put_block(block, order).map_err(|NotTaken| {
            self.free.fetch_sub(order.pages(), Relaxed);
            self.why_not(block, order.pages())
        })
    }

    fn put_batch(&self, _token: &CpuToken, frames: &RowBatch) -> Option<FreeError> {
        self.put_singles(frames)
    }

    fn free(&self) -> u64 {
        self.free.load(Relaxed)
    }

    fn blocks(&self, _token: &CpuToken) -> [u64; Order::COUNT] {
        self.count_blocks()
    }

    fn is_free(&self, _token: &CpuToken, frame: Pfn) -> bool {
        self.frame_is_free(frame)
    }

    fn is_managed(&self, _token: &CpuToken, frame: Pfn) -> bool {
        self.managed.lock().contains(frame)
    }
}

impl<'m> FreeMap<'m> {
    /// Takes `frames` neighbouring frames of one range, any number, the lowest there are: the first
    /// is a multiple of `align` frames, a power of two, and all lie within `limit`. It looks at all
    /// that describes the zone, if need be.
    pub fn take_contiguous(
        &self,
        _token: &CpuToken,
        frames: u64,
        align: u64,
        limit: PfnRange,
    ) -> Option<Pfn> {
        self.take_neighbours(frames, align, limit)
    }

    /// Puts neighbouring frames back, whatever they were taken as. The error names the lowest frame
    /// that is no frame of the zone's, or else the lowest that is free already.
    pub fn put_range(&self, _token: &CpuToken, frames: PfnRange) -> Result<(), FreeError> {
        self.put_neighbours(frames)
    }

    /// Makes free frames of one range reserved again: [`release`](FreeFrames::release) undone.
    /// Nothing changes on an error.
    pub fn shrink(&self, _token: &CpuToken, frames: PfnRange) -> Result<(), ShrinkError> {
        self.shrink_by(frames)
    }

    fn area_of(&self, frame: Pfn) -> Option<&'m Area<'m>> {
        self.place_of(frame).map(|(_, area)| area)
    }

    /// The area of a frame, and its number.
    #[inline]
    fn place_of(&self, frame: Pfn) -> Option<(usize, &'m Area<'m>)> {
        let at = super::managed::range_of(self.ranges, frame)?;
        Some((at, self.areas.get(at)?))
    }

    #[inline(always)]
    fn put_block(&self, block: Pfn, order: Order) -> Result<(), NotTaken> {
        let (number, area) = self.place_of(block).ok_or(NotTaken)?;
        let (at, first) = area.place(block);
        if order == Order::MAX {
            return self.put_pair(area, at);
        }
        self.managed_block(area, at, first, order.pages())?.put(first, order.pages() as u16)?;
        self.note_room(number, area, at);
        Ok(())
    }

    /// Frames of this block of an area were freed.
    #[inline]
    fn note_room(&self, number: usize, area: &'m Area<'m>, block: usize) {
        let region = block / REGION_BLOCKS;
        self.lowest.lower(number, region, || {
            area.region(region).map_or(RegionWord::new(0, 0), |region| region.word())
        });
    }

    #[inline(never)]
    fn put_pair(&self, area: &'m Area<'m>, at: usize) -> Result<(), NotTaken> {
        // Both are looked at before one is changed.
        let halves = [at, at + 1].map(|at| self.managed_block(area, at, 0, Order::HUGE.pages()));
        let [lower, upper] = [halves[0]?, halves[1]?];
        let pages = Order::HUGE.pages() as u16;
        if !lower.all_taken(0, pages) || !upper.all_taken(0, pages) {
            return Err(NotTaken);
        }
        lower.put(0, pages)?;
        upper.put(0, pages)
    }

    /// A block of which these frames are managed.
    #[inline]
    fn managed_block(
        &self,
        area: &'m Area<'m>,
        at: usize,
        first: u32,
        count: u64,
    ) -> Result<Block<'m>, NotTaken> {
        let block = area.block(at).ok_or(NotTaken)?;
        if block.entry().is_part() && !self.has_all(area.start_of(at) + u64::from(first), count) {
            return Err(NotTaken);
        }
        Ok(block)
    }

    #[inline(never)]
    fn has_all(&self, first: Pfn, count: u64) -> bool {
        self.managed.lock().has_all(first, count)
    }

    /// Why frames were refused: the lowest that is not managed, or else the lowest that is free.
    #[cold]
    #[inline(never)]
    fn why_not(&self, first: Pfn, frames: u64) -> FreeError {
        let refusal = self.managed.lock().refusal(first, frames);
        refusal.unwrap_or_else(|| {
            let free = (0..frames).map(|at| first + at).find(|&frame| self.frame_is_free(frame));
            FreeError::AlreadyFree { pfn: free.unwrap_or(first) }
        })
    }
}
