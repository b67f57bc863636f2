//! Many single frames at once, with few atomic operations.
#![forbid(unsafe_code)]

use super::FreeMap;
use super::area::Area;
use super::region::REGION_BLOCKS;
use super::row::ROW_FRAMES;
use crate::ids::CpuId;
use crate::sync::Ordering::Relaxed;
use crate::units::Pfn;
use crate::zone::{Cursor, FreeError};

/// Blocks that one batch takes from at most, so that its time is bounded.
const BLOCKS: usize = 8;

impl<'m> FreeMap<'m> {
    /// Takes up to as many single frames as `into` has room for: all of one block with one promise.
    pub(super) fn take_singles(&self, cpu: CpuId, cursor: &Cursor, into: &mut [Pfn]) -> usize {
        let mut got = 0;
        for _ in 0..BLOCKS {
            if got == into.len() {
                break;
            }
            let taken = self.small(cpu, cursor, 1, |block, start| {
                let taken = block.take_singles(start, &mut into[got..]);
                (taken > 0).then_some(taken)
            });
            let Some(taken) = taken else { break };
            got += taken;
        }
        self.free.fetch_sub(got as u64, Relaxed);
        got
    }

    /// Puts single frames back: neighbours in one row together, and one change of each region that
    /// follows upon another. Gives the first error; what it names is left out.
    pub(super) fn put_singles(&self, frames: &[Pfn]) -> Option<FreeError> {
        self.free.fetch_add(frames.len() as u64, Relaxed);
        let mut refused = Refused { count: 0, first: None };
        let mut rest = frames;
        while let Some(&frame) = rest.first() {
            let place = self.area_of(frame).map(|area| (area, area.place(frame).0 / REGION_BLOCKS));
            let Some((area, region)) = place else {
                refused.add(1, || self.why_not(frame, 1));
                rest = &rest[1..];
                continue;
            };
            let reach = area.reach(region);
            let run = rest.iter().take_while(|&&frame| reach.contains(frame)).count();
            let (run, after) = rest.split_at(run);
            self.put_run(area, region, run, &mut refused);
            rest = after;
        }
        if refused.count > 0 {
            self.free.fetch_sub(refused.count, Relaxed);
        }
        refused.first
    }

    /// Puts back frames of one region.
    fn put_run(&self, area: &'m Area<'m>, region: usize, run: &[Pfn], refused: &mut Refused) {
        let Some(word) = area.region(region).map(|region| region.word) else {
            for &frame in run {
                refused.add(1, || self.why_not(frame, 1));
            }
            return;
        };
        let before = refused.count;
        word.fetch_add(run.len() as u32, Relaxed);
        let mut rest = run;
        while let Some(&frame) = rest.first() {
            let row_of = |frame: Pfn| frame.0 / u64::from(ROW_FRAMES);
            let mut mask = 0_u64;
            let mut count = 0;
            for &other in rest {
                let bit = 1 << (other.0 % u64::from(ROW_FRAMES));
                if row_of(other) != row_of(frame) || mask & bit != 0 {
                    break;
                }
                mask |= bit;
                count += 1;
            }
            let bad = self.put_row(area, frame, mask);
            if bad != 0 {
                let row = Pfn(row_of(frame) * u64::from(ROW_FRAMES));
                let lowest = row + u64::from(bad.trailing_zeros());
                refused.add(u64::from(bad.count_ones()), || self.why_not(lowest, 1));
            }
            rest = &rest[count..];
        }
        let bad = (refused.count - before) as u32;
        if bad > 0 {
            word.fetch_sub(bad, Relaxed);
        }
    }

    /// Puts back frames of the row that has `frame`; gives the bits of those that are refused.
    fn put_row(&self, area: &'m Area<'m>, frame: Pfn, mask: u64) -> u64 {
        let (at, first) = area.place(frame);
        let Some(block) = area.block(at) else { return mask };
        let mut good = mask;
        if block.entry().is_part() {
            let managed = self.managed.lock();
            let row = Pfn(frame.0 - u64::from(first % ROW_FRAMES));
            let mut left = mask;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                if !managed.contains(row + u64::from(bit.trailing_zeros())) {
                    good &= !bit;
                }
                left &= left - 1;
            }
        }
        mask & !good | block.put_bits((first / ROW_FRAMES) as usize, good)
    }
}

/// Frames that were not taken.
struct Refused {
    count: u64,
    first: Option<FreeError>,
}

impl Refused {
    #[cold]
    fn add(&mut self, frames: u64, why: impl FnOnce() -> FreeError) {
        self.count += frames;
        if self.first.is_none() {
            self.first = Some(why());
        }
    }
}
