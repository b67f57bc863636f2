//! The stack of frames in one page.

use core::hint::assert_unchecked;

use crate::sync::{LocalWord, LocalWord32};
use crate::units::{Order, Pfn};
use crate::zone::rows::{ROW_FRAMES, lowest_run};
use crate::zone::{Row, RowBatch, Zone};

use super::{BlockWord, KeptBlocks, PagesetSizes};

/// Frames that one page has room for, beside the header.
pub const CAPACITY: usize = 960;
/// The same as a place in the array: where it ends.
const END: u32 = CAPACITY as u32;

const HEADER_BYTES: usize = 256;
const HEADER_USED: usize = 4 * 8 + 7 * 4 + 4 + size_of::<KeptBlocks>();

/// Single frames of one zone, last in first out. One page: what it holds are offsets of 32 bits
/// from `base`, the first frame of a segment of 2^32 frames; a wider zone has several segments, and
/// the stack holds frames of one of them at a time.
///
/// The array is a ring, so that the oldest frames can be taken from the other end without moving
/// the rest. `floor` and `ceiling` bound the part in which `top` moves without a thought for
/// ring, limit, or room: one comparison each way. What lies beyond is for the `find_*` functions.
/// Whoever changes the stack is its own CPU, under its token.
///
/// ```text
/// in one piece   bottom = floor <= top <= ceiling       holds bottom..top
/// in two         0 = floor <= top <= ceiling < bottom   holds bottom..960 and 0..top
/// ```
#[repr(C)]
pub struct Pageset<'m> {
    zone: &'m Zone<'m>,
    /// A [`BlockWord`].
    base: LocalWord,
    served: LocalWord,
    /// The frame that it fills itself; 0: it is the boot pageset.
    frame: Pfn,
    /// Where the next frame goes.
    top: LocalWord32,
    /// `top` is above it while `pop` has something to take.
    floor: LocalWord32,
    /// `top` is below it while `push` may put something there.
    ceiling: LocalWord32,
    /// Where the oldest frame is, when there is one.
    bottom: LocalWord32,
    limit: LocalWord32,
    /// The limit that the ceiling follows.
    fitted: LocalWord32,
    batch: LocalWord32,
    /// Blocks of more than one frame, beside the stack.
    kept: KeptBlocks,
    _unused: [LocalWord32; (HEADER_BYTES - HEADER_USED) / 4],
    offsets: [LocalWord32; CAPACITY],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Pageset<'_>>() == crate::units::PAGE_SIZE as usize);

/// Why a frame was not put on a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The stack has reached its ceiling: the other end of the ring may have room, or a drain makes
    /// it.
    Full,
    /// The frame is no single one, of another zone, or too far from those that the stack holds:
    /// drain it and move it to the frame's segment.
    OtherSegment,
}

impl<'m> Pageset<'m> {
    /// An empty pageset, which fills `frame` itself, for the frames of `zone` from `base` on.
    /// `index` is the zone's place among all zones.
    pub fn new(
        zone: &'m Zone<'m>,
        index: u16,
        frame: Pfn,
        base: Pfn,
        sizes: PagesetSizes,
    ) -> Pageset<'m> {
        let pageset = Pageset {
            zone,
            base: LocalWord::new(BlockWord::new(index, Order::ZERO, base).bits()),
            served: LocalWord::new(0),
            frame,
            top: LocalWord32::new(0),
            floor: LocalWord32::new(0),
            ceiling: LocalWord32::new(0),
            bottom: LocalWord32::new(0),
            limit: LocalWord32::new(sizes.limit()),
            fitted: LocalWord32::new(0),
            batch: LocalWord32::new(sizes.batch),
            kept: KeptBlocks::new(),
            _unused: core::array::from_fn(|_| LocalWord32::new(0)),
            offsets: core::array::from_fn(|_| LocalWord32::new(0)),
        };
        pageset.refit();
        pageset
    }

    /// The boot pageset: empty, and it stays so. All CPUs share it for all zones, so nobody ever
    /// writes to it; `any` zone is as good as another.
    pub fn boot(any: &'m Zone<'m>) -> Pageset<'m> {
        Pageset::new(any, 0, Pfn(0), Pfn(0), PagesetSizes::BOOT)
    }

    /// Whether it is the boot pageset.
    pub fn is_boot(&self) -> bool {
        self.frame == Pfn(0)
    }

    /// Changes batch and limit. Other CPUs may call it; the pageset's own keeps to the new limit
    /// from its next drain on, or when it finds the stack full.
    pub fn resize(&self, sizes: PagesetSizes) {
        self.limit.set(sizes.limit());
        self.batch.set(sizes.batch);
    }

    /// Whose frames it holds.
    #[inline]
    pub fn zone(&self) -> &'m Zone<'m> {
        self.zone
    }

    /// The zone's place among all zones.
    #[inline]
    pub(crate) fn index(&self) -> u16 {
        BlockWord::from_bits(self.base.get()).zone()
    }

    /// The frame that it fills itself.
    pub fn frame(&self) -> Pfn {
        self.frame
    }

    /// The blocks of more than one frame. Nobody keeps one in the boot pageset.
    #[inline]
    pub fn kept(&self) -> &KeptBlocks {
        &self.kept
    }

    /// How many frames are parked: those on the stack and those of blocks that are kept.
    pub fn parked(&self) -> u32 {
        self.count() + self.kept.frames()
    }

    /// How many frames the stack holds. Exact on its own CPU, elsewhere some recent number or a mixture
    /// of two.
    pub fn count(&self) -> u32 {
        let (bottom, top) = (self.bottom.get(), self.top.get());
        let laps = if self.floor.get() == bottom { 0 } else { END };
        top.wrapping_add(laps).wrapping_sub(bottom).min(END)
    }

    /// From how many frames on it gives some back.
    pub fn limit(&self) -> u32 {
        self.limit.get()
    }

    /// How many frames may be parked: one less on the stack than the limit, or than the one before
    /// as long as its CPU does not keep to the new one, and the blocks that can be kept.
    pub fn bound(&self) -> u32 {
        self.limit.get().max(self.fitted.get()).saturating_sub(1) + KeptBlocks::BOUND
    }

    /// Whether its CPU has yet to keep to the limit.
    pub fn is_stale(&self) -> bool {
        self.limit.get() != self.fitted.get()
    }

    /// Frames that a refill parks.
    pub fn batch(&self) -> u32 {
        self.batch.get()
    }

    /// Allocations that it served.
    pub fn served(&self) -> &LocalWord {
        &self.served
    }

    /// Takes the frame that came last. `None`: it is empty, or [`find_top`](Self::find_top) helps.
    #[inline]
    pub(crate) fn pop(&self) -> Option<BlockWord> {
        let top = place(&self.top);
        if top <= place(&self.floor) {
            return None;
        }
        let offset = self.offsets[top - 1].get();
        // Read and written once more rather than kept: one instruction.
        self.top.add(u32::MAX);
        Some(BlockWord::from_bits(self.base.get()).plus(offset))
    }

    /// Puts a frame on top.
    #[inline]
    pub(crate) fn push(&self, frame: BlockWord) -> Result<(), Refused> {
        let base = BlockWord::from_bits(self.base.get());
        let offset = frame.offset_from(base).ok_or(Refused::OtherSegment)?;
        let top = place(&self.top);
        if top >= place(&self.ceiling) {
            return Err(Refused::Full);
        }
        self.offsets[top].set(offset);
        self.top.add(1);
        Ok(())
    }

    /// After a `pop` that found nothing: goes on at the other end of the ring, if there is
    /// something; false when the stack is empty.
    pub(crate) fn find_top(&self) -> bool {
        let bottom = self.bottom.get();
        if self.floor.get() != bottom {
            self.floor.set(bottom);
            self.top.set(END);
            self.refit();
        }
        self.top.get() > bottom
    }

    /// After a `push` that found it full: goes on at the other end of the ring, if the limit and
    /// the room there allow it; false when frames have to go.
    pub(crate) fn find_room(&self) -> bool {
        let bottom = self.bottom.get();
        self.refit();
        if self.count() < self.most() && self.top.get() == END && self.floor.get() == bottom {
            self.floor.set(0);
            self.top.set(0);
        }
        self.refit();
        self.top.get() < self.ceiling.get()
    }

    /// Fills the empty stack with single frames of its zone, so that they come out in this order:
    /// as many as the limit allows. What it has no place for, or is of another segment than the
    /// first, stays in the batch: then it says false. `first` is where the zone's first segment
    /// begins.
    pub(crate) fn fill(&self, first: Pfn, batch: &mut RowBatch) -> bool {
        let Some(one) = batch.rows().iter().find(|row| row.frames != 0) else { return true };
        let one = one.start;
        if self.count() > 0 {
            return false;
        }
        self.move_to_segment(first, one);
        let base = BlockWord::from_bits(self.base.get()).pfn();
        let end = batch.count().min(self.most());
        let mut place = end;
        let mut all = true;
        for row in batch.rows_mut() {
            let offset = row.start.0.wrapping_sub(base.0);
            // A row is of one segment: they begin at multiples of 64.
            let Ok(offset) = u32::try_from(offset) else {
                all &= row.frames == 0;
                continue;
            };
            while row.frames != 0 && place > 0 {
                let (first, count, run) = lowest_run(row.frames, place);
                let below = place - count;
                let places = self.offsets.get(below as usize..place as usize).unwrap_or(&[]);
                set_downward(places, offset | first);
                place = below;
                row.frames &= !run;
            }
            all &= row.frames == 0;
        }
        // Where less came than was counted, the places below are empty.
        self.bottom.set(place);
        self.floor.set(place);
        self.top.set(end);
        self.refit();
        all
    }

    /// Takes the frames that have been here longest and adds them to `into`: `count` at most, as
    /// many as there are, and as many as it has room for. Says how many.
    pub(crate) fn take_oldest(&self, count: u32, into: &mut RowBatch) -> u32 {
        let count = count.min(self.count());
        let base = BlockWord::from_bits(self.base.get()).pfn();
        let bottom = self.bottom.get();
        let above = self.offsets.get(bottom as usize..).unwrap_or(&[]);
        let above = above.get(..count as usize).unwrap_or(above);
        let below = &self.offsets[..count as usize - above.len()];
        let mut taken = 0;
        for mut places in [above, below] {
            while !places.is_empty() && into.room() > 0 {
                let (start, frames, count) = lowest_row(places);
                into.push(Row { start: base + u64::from(start), frames });
                places = places.get(count..).unwrap_or(&[]);
                taken += count as u32;
            }
        }
        let (end, in_two) = (bottom + taken, self.floor.get() != bottom);
        let bottom = if in_two && end >= END { end - END } else { end };
        self.bottom.set(bottom);
        if !(in_two && end < END) {
            self.floor.set(bottom);
        }
        if self.count() == 0 {
            self.restart();
        }
        self.refit();
        taken
    }

    /// Moves an empty stack to the segment of a zone (whose first segment begins at `first`) that
    /// has `frame`. A stack that is not empty stays.
    pub(crate) fn move_to_segment(&self, first: Pfn, frame: Pfn) {
        if self.count() == 0 {
            let within = frame.0.wrapping_sub(first.0) & u64::from(u32::MAX);
            let index = BlockWord::from_bits(self.base.get()).zone();
            let base = BlockWord::new(index, Order::ZERO, Pfn(frame.0.wrapping_sub(within)));
            self.base.set(base.bits());
            self.restart();
            self.refit();
        }
    }

    /// Brings the ceiling to where limit and room are now.
    pub(crate) fn refit(&self) {
        self.fitted.set(self.limit.get());
        let bottom = self.bottom.get();
        let highest = bottom.saturating_add(self.most());
        self.ceiling.set(match self.floor.get() == bottom {
            true => highest.min(END),
            false => highest.saturating_sub(END),
        });
    }

    /// Whether this frame is parked here. Exact on its own CPU; elsewhere, while the CPU works, a
    /// guess.
    pub fn holds(&self, frame: Pfn) -> bool {
        self.kept.holds(frame) || self.has_on_stack(frame)
    }

    fn has_on_stack(&self, frame: Pfn) -> bool {
        let base = BlockWord::from_bits(self.base.get()).pfn();
        let Ok(offset) = u32::try_from(frame.0.wrapping_sub(base.0)) else { return false };
        let ring = self.offsets.iter().skip(self.bottom.get() as usize).chain(&self.offsets);
        ring.take(self.count() as usize).any(|place| place.get() == offset)
    }

    /// How many frames the stack may hold: one less than the limit, at which some go.
    fn most(&self) -> u32 {
        self.fitted.get().min(END).saturating_sub(1)
    }

    /// Back to the beginning of the array, when it is empty.
    fn restart(&self) {
        [&self.top, &self.floor, &self.bottom].iter().for_each(|word| word.set(0));
    }
}

/// Writes ascending offsets from the last place down to the first. Eight at a time: it is most of
/// what a refill does.
fn set_downward(places: &[LocalWord32], first: u32) {
    let mut next = first;
    let (rest, eights) = places.as_rchunks::<8>();
    for eight in eights.iter().rev() {
        for (slot, at) in eight.iter().rev().zip(0..) {
            slot.set(next.wrapping_add(at));
        }
        next = next.wrapping_add(8);
    }
    for (slot, at) in rest.iter().rev().zip(0..) {
        slot.set(next.wrapping_add(at));
    }
}

/// The frames of one row that these places begin with: the row's start, its bits, and how many.
fn lowest_row(places: &[LocalWord32]) -> (u32, u64, usize) {
    let start = places.first().map_or(0, |place| place.get() & !(ROW_FRAMES - 1));
    let mut frames = 0_u64;
    let mut count = 0;
    for place in places {
        let bit = place.get() ^ start;
        if bit >= ROW_FRAMES {
            break;
        }
        frames |= 1 << bit;
        count += 1;
    }
    (start, frames, count)
}

/// What one of the words says that hold a place in the array, or its end.
#[inline]
fn place(word: &LocalWord32) -> usize {
    let place = word.get() as usize;
    // SAFETY: the words are 0 at first, and one CPU alone changes them, under its token. `top` goes
    // up by one where it is below `ceiling`, down where it is above `floor`; what else is written
    // to the three is 0, `END`, a place that was just used, or at most `END` by a minimum.
    unsafe { assert_unchecked(place <= CAPACITY) };
    place
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
