//! What an allocation is: an owned block of frames.

use core::fmt;
use core::mem;

use crate::pageset::BlockWord;
use crate::platform::{CpuPlatform, PhysMap};
use crate::units::{Order, Pfn};
use crate::zone::{FreeError, Zone, ZoneId};

use super::MemorySubsystem;

/// An allocated block of 2^order frames, aligned to its size. Move-only; freeing takes it. A block
/// that is merely dropped is lost, and counted as such ([`Zone::leaked`]).
#[must_use = "a dropped block is lost; free it or leak it"]
pub struct FrameBlock<'m> {
    zone: &'m Zone<'m>,
    word: BlockWord,
}

// Two words: it travels in registers, an `Option` of it, too.
#[cfg(not(loom))]
const _: () = assert!(size_of::<Option<FrameBlock<'_>>>() == 16);

impl<'m> FrameBlock<'m> {
    /// A block that was just taken from the zone or from a pageset of it.
    #[inline]
    pub(super) fn new(zone: &'m Zone<'m>, word: BlockWord) -> Self {
        FrameBlock { zone, word }
    }

    /// Its first frame.
    #[inline]
    pub fn pfn(&self) -> Pfn {
        self.word.pfn()
    }

    /// How many frames it has, as an order.
    #[inline]
    pub fn order(&self) -> Order {
        self.word.order()
    }

    /// Whose it is.
    pub fn zone(&self) -> ZoneId {
        self.zone.id()
    }

    /// The block's memory: [`Order::bytes`] bytes, contents undefined unless the request was
    /// zeroed. `platform` is the one of the block's subsystem. The pointer is good as long as the
    /// block is neither freed nor dropped.
    pub fn as_ptr(&self, platform: &impl PhysMap) -> *mut u8 {
        platform.phys_to_virt(self.pfn().addr())
    }

    /// Gives up ownership for good, or until [`FrameBlock::from_raw`].
    #[inline]
    pub fn leak(self) -> Pfn {
        let pfn = self.pfn();
        mem::forget(self);
        pfn
    }

    /// The lower and the upper half, each of one order less: an aligned part of a block may be
    /// freed by itself. A single frame comes back as it is.
    pub fn into_halves(self) -> Result<(FrameBlock<'m>, FrameBlock<'m>), FrameBlock<'m>> {
        let Some(order) = self.order().get().checked_sub(1).and_then(Order::new) else {
            return Err(self);
        };
        let half = |pfn| FrameBlock::new(self.zone, BlockWord::new(self.word.zone(), order, pfn));
        let halves = (half(self.pfn()), half(self.pfn() + order.pages()));
        mem::forget(self);
        Ok(halves)
    }

    /// The block as single frames, ascending. Those that the iterator still has when it is
    /// dropped are lost, and counted.
    pub fn into_frames(self) -> Frames<'m> {
        let frames = Frames {
            zone: self.zone,
            next: BlockWord::new(self.word.zone(), Order::ZERO, self.pfn()),
            left: self.order().pages() as u32,
        };
        mem::forget(self);
        frames
    }

    /// The raw door. Out of range, in a hole, reserved, misaligned, free in the zone and (with
    /// feature `checked` or debug assertions) parked in a pageset are errors; nothing changes then.
    ///
    /// # Safety
    /// The block is allocated from `mm`, leaked or an aligned part of what was leaked, and not
    /// parked; nobody else claims it. What the errors name is found out, but a frame that someone
    /// else owns is not.
    pub unsafe fn from_raw<P: CpuPlatform>(
        mm: &MemorySubsystem<'m, P>,
        pfn: Pfn,
        order: Order,
    ) -> Result<FrameBlock<'m>, FreeError> {
        let (zone, zone_index) = mm.find_zone(pfn).ok_or(mm.why_no_zone(pfn))?;
        mm.check_taken(mm.pin().token(), zone, pfn, order)?;
        Ok(FrameBlock::new(zone, BlockWord::new(zone_index, order, pfn)))
    }

    #[inline]
    pub(super) fn owner(&self) -> &'m Zone<'m> {
        self.zone
    }

    #[inline]
    pub(super) fn word(&self) -> BlockWord {
        self.word
    }
}

impl Drop for FrameBlock<'_> {
    fn drop(&mut self) {
        self.zone.count_leaked(self.order().pages());
    }
}

impl fmt::Debug for FrameBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameBlock")
            .field("pfn", &self.pfn())
            .field("order", &self.order())
            .field("zone", &self.zone())
            .finish()
    }
}

/// The single frames of a block, ascending.
#[must_use = "frames that are not taken are lost"]
pub struct Frames<'m> {
    zone: &'m Zone<'m>,
    next: BlockWord,
    left: u32,
}

impl<'m> Iterator for Frames<'m> {
    type Item = FrameBlock<'m>;

    fn next(&mut self) -> Option<FrameBlock<'m>> {
        self.left = self.left.checked_sub(1)?;
        let word = self.next;
        self.next = word.plus(1);
        Some(FrameBlock::new(self.zone, word))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Frames<'_> {}

impl Drop for Frames<'_> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.zone.count_leaked(u64::from(self.left));
        }
    }
}
