//! Exact ranges: contiguous frames of any number, and frames that leave the zone.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::area::Area;
use super::block::Block;
use super::entry::Entry;
use super::put::NotTaken;
use super::region::REGION_BLOCKS;
use crate::sync::Ordering::Relaxed;
use crate::units::{Pfn, PfnRange};
use crate::zone::{FreeError, ShrinkError};

impl<'m> FreeMap<'m> {
    /// Takes `frames` neighbouring frames of one range, the lowest there are: the first is a multiple
    /// of `align` frames, a power of two, and all lie within `limit`.
    pub(super) fn take_neighbours(&self, frames: u64, align: u64, limit: PfnRange) -> Option<Pfn> {
        if frames == 0 || !align.is_power_of_two() {
            return None;
        }
        self.areas.iter().find_map(|area| {
            let within = area.frames().intersect(limit);
            let mut start = within.start;
            loop {
                start = Pfn(start.0.checked_next_multiple_of(align)?);
                if start >= within.end || frames > within.end - start {
                    return None;
                }
                let wanted = PfnRange { start, end: start + frames };
                let in_use = match self.last_not_free(area, wanted) {
                    Some(pfn) => pfn,
                    None => match self.claim_range(area, wanted) {
                        Ok(()) => return Some(start),
                        Err(pfn) => pfn,
                    },
                };
                start = in_use + 1;
            }
        })
    }

    /// Puts neighbouring frames back: all that was taken, or a part. Nothing changes on an error.
    pub(super) fn put_neighbours(&self, frames: PfnRange) -> Result<(), FreeError> {
        if frames.is_empty() {
            return Ok(());
        }
        let refused = |NotTaken| self.why_not(frames.start, frames.len());
        let area = self.area_of(frames.start).ok_or(NotTaken).map_err(refused)?;
        let all_taken = frames.end <= area.frames().end
            && area.parts(frames).all(|part| {
                let count = u64::from(part.count);
                self.managed_block(area, part.block, part.first, count)
                    .is_ok_and(|block| block.all_taken(part.first, part.count))
            });
        if !all_taken {
            return Err(refused(NotTaken));
        }
        self.free.fetch_add(frames.len(), Relaxed);
        for part in area.parts(frames) {
            let put = area.block(part.block).ok_or(NotTaken);
            if put.and_then(|block| block.put(part.first, part.count)).is_err() {
                // Another CPU frees the same frames at this moment.
                self.free.fetch_sub(u64::from(part.count), Relaxed);
            }
        }
        Ok(())
    }

    /// Takes free frames of one range off the zone.
    pub(super) fn shrink_by(&self, frames: PfnRange) -> Result<(), ShrinkError> {
        if frames.is_empty() {
            return Ok(());
        }
        // With the lock of the list nobody moves the frontier, and frames that come back to a block
        // that is managed in part wait.
        let mut managed = self.managed.lock();
        if let Some(error) = managed.refusal(frames.start, frames.len()) {
            return Err(ShrinkError::NotManaged(error));
        }
        let area = self.area_of(frames.start).filter(|area| frames.end <= area.frames().end);
        let beyond = ShrinkError::NotManaged(FreeError::Hole { pfn: frames.end });
        let area = area.ok_or(beyond)?;
        let used = frames.intersect(area.used());
        claim_parts(area, used).map_err(|pfn| ShrinkError::InUse { pfn })?;
        if managed.remove(frames).is_err() {
            put_parts(area, used, usize::MAX);
            return Err(ShrinkError::TooManyRanges);
        }
        for part in area.parts(used) {
            if let Some(block) = area.block(part.block) {
                block.close();
            }
        }
        self.free.fetch_sub(frames.len(), Relaxed);
        Ok(())
    }

    /// Takes exactly these frames, or says which is not free and changes nothing.
    fn claim_range(&self, area: &Area<'m>, frames: PfnRange) -> Result<(), Pfn> {
        let (last, _) = area.place(Pfn(frames.end.0 - 1));
        while area.frontier() <= last / REGION_BLOCKS && self.first_use(area).is_some() {}
        claim_parts(area, frames)?;
        self.free.fetch_sub(frames.len(), Relaxed);
        Ok(())
    }

    /// The highest of these frames of an area that is not free at the moment.
    fn last_not_free(&self, area: &Area<'m>, frames: PfnRange) -> Option<Pfn> {
        let unused = frames.intersect(area.unused());
        let missing = (!unused.is_empty()).then(|| self.managed.lock().last_missing(unused));
        missing.flatten().or_else(|| {
            let used = frames.intersect(area.used());
            let mut end = used.end;
            while end > used.start {
                let (place, _) = area.place(Pfn(end.0 - 1));
                let start = area.start_of(place).max(used.start);
                let whole = area.block(place).is_some_and(|block| block.entry().is_whole());
                let in_use = || (start.0..end.0).rev().find(|&pfn| !self.frame_is_free(Pfn(pfn)));
                if !whole && let Some(pfn) = in_use() {
                    return Some(Pfn(pfn));
                }
                end = start;
            }
            None
        })
    }
}

/// Takes the parts of blocks that a range has, below the frontier: all or none. Says which frame
/// is not free.
fn claim_parts(area: &Area<'_>, frames: PfnRange) -> Result<(), Pfn> {
    for (done, part) in area.parts(frames).enumerate() {
        let block = area.block(part.block);
        if !block.is_some_and(|block| block.take_exactly(part.first, part.count)) {
            put_parts(area, frames, done);
            let in_use = |&frame: &u32| !block.is_some_and(|block| block.is_free(frame));
            let all = part.first..part.first + u32::from(part.count);
            let frame = all.clone().find(in_use).unwrap_or(all.start);
            return Err(area.start_of(part.block) + u64::from(frame));
        }
    }
    Ok(())
}

/// Puts the first `count` parts of a range back that were just taken.
fn put_parts(area: &Area<'_>, frames: PfnRange, count: usize) {
    for part in area.parts(frames).take(count) {
        if let Some(block) = area.block(part.block) {
            // Cannot fail: the frames are the caller's.
            let _ = block.put(part.first, part.count);
        }
    }
}

/// What a range has of one block.
pub(super) struct Part {
    pub(super) block: usize,
    pub(super) first: u32,
    pub(super) count: u16,
}

impl Area<'_> {
    /// The blocks of a range of the area, each with what the range has of it.
    pub(super) fn parts(&self, frames: PfnRange) -> impl Iterator<Item = Part> + '_ {
        let mut at = frames.start;
        core::iter::from_fn(move || {
            if at >= frames.end {
                return None;
            }
            let (block, first) = self.place(at);
            let end = self.reach_of_block(block).end.min(frames.end);
            let count = (end - at) as u16;
            at = end;
            (count > 0).then_some(Part { block, first, count })
        })
    }
}

impl Block<'_> {
    /// Frames of the block, which the caller has taken, are not managed any more.
    fn close(self) {
        self.change(|entry| match entry.is_taken() {
            // All of them: whatever the rows hold, it is written anew.
            true => Some(Entry::RESERVED),
            false => Some(entry.with_part(true)),
        });
    }
}
