//! Where the usable ranges go, and what is left out on the way.

use super::{MapOptions, MemoryMap};
use crate::finding::{Finding, Findings, Kind};
use crate::units::{Pfn, PfnRange};

/// The BIOS's memory: real-mode vectors and data, and the window of adapters and ROMs.
const BIOS: [PfnRange; 2] = [PfnRange::new(0, 1), PfnRange::new(0xa0, 0x100)];

/// Collects ranges, without what the options leave out.
pub struct Output<'m> {
    room: &'m mut [PfnRange],
    count: usize,
    options: MapOptions,
    above_limit: u64,
    lost: u64,
}

impl<'m> Output<'m> {
    /// Nothing yet.
    pub fn new(room: &'m mut [PfnRange], options: MapOptions) -> Output<'m> {
        Output { room, count: 0, options, above_limit: 0, lost: 0 }
    }

    /// Takes a range; they come in ascending order.
    pub fn push(&mut self, mut range: PfnRange) {
        if let Some(limit) = self.options.limit {
            let below = PfnRange { start: Pfn(0), end: limit.pfn() };
            self.above_limit += range.len();
            range = range.intersect(below);
            self.above_limit -= range.len();
        }
        if !self.options.hold_back_bios {
            return self.keep(range);
        }
        for held in BIOS {
            self.keep(PfnRange { start: range.start, end: range.end.min(held.start) });
            range.start = range.start.max(held.end.min(range.end.max(range.start)));
        }
        self.keep(range);
    }

    fn keep(&mut self, range: PfnRange) {
        if range.is_empty() {
            return;
        }
        let last = self.count.checked_sub(1).and_then(|last| self.room.get_mut(last));
        if let Some(last) = last
            && last.end == range.start
        {
            last.end = range.end;
        } else if let Some(slot) = self.room.get_mut(self.count) {
            *slot = range;
            self.count += 1;
        } else {
            self.lost += range.len();
        }
    }

    /// The map, and what it is short of as findings.
    pub fn finish(self, findings: &mut dyn Findings) -> MemoryMap<'m> {
        if let Some(limit) = self.options.limit
            && self.above_limit > 0
        {
            let kind = Kind::MemoryAboveLimit { frames: self.above_limit, limit: limit.0 };
            findings.add(Finding::new(kind));
        }
        if self.lost > 0 {
            let kind = Kind::MemoryMapFull { limit: self.room.len() as u32, lost: self.lost };
            findings.add(Finding::new(kind));
        }
        if self.count == 0 {
            findings.add(Finding::new(Kind::MemoryMapEmpty));
        }
        MemoryMap { usable: self.room.get(..self.count).unwrap_or_default() }
    }
}
