//! The firmware's memory map -> usable whole frames.
//!
//! A frame is usable only if all of it is, and no region of another kind touches it: what the
//! firmware calls usable and reserved at once is reserved.

mod output;
mod user_map;

use crate::finding::{Finding, Findings, Kind};
use crate::units::{Pfn, PfnRange, PhysAddr, PhysRange};

use output::Output;
pub use user_map::{Change, ChangeRoom};

/// What a region of the firmware's memory map is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RegionKind {
    /// Memory for everybody.
    Usable,
    /// Everything else: reserved, ACPI's, a device's, bad.
    #[default]
    Other,
}

/// A region of the firmware's memory map: unsorted, unaligned, overlapping, as it comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// The bytes.
    pub range: PhysRange,
    /// What they are.
    pub kind: RegionKind,
}

impl Region {
    /// A region of bytes `start..end`.
    pub const fn new(start: u64, end: u64, kind: RegionKind) -> Region {
        Region { range: PhysRange::new(start, end), kind }
    }
}

/// What to leave out of a memory map.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapOptions {
    /// Leave out frame 0 and 640 KiB to 1 MiB whatever the map says, as Linux does.
    pub hold_back_bios: bool,
    /// Leave out what is at or above this address.
    pub limit: Option<PhysAddr>,
}

/// Usable frames: sorted, disjoint, no two ranges touching.
#[derive(Clone, Copy, Debug)]
pub struct MemoryMap<'m> {
    usable: &'m [PfnRange],
}

impl<'m> MemoryMap<'m> {
    /// Builds the map. `regions` are sorted in place; `room` takes the usable ranges, of which
    /// there are at most as many as regions, and two more with `hold_back_bios`. What does not
    /// fit is left out, the highest first, with a finding.
    pub fn build(
        regions: &mut [Region],
        room: &'m mut [PfnRange],
        options: MapOptions,
        findings: &mut dyn Findings,
    ) -> MemoryMap<'m> {
        for region in regions.iter_mut() {
            let (start, end) = (region.range.start.0, region.range.end.0);
            if end < start {
                findings.add(Finding::new(Kind::MemoryMapBadRegion { start, end }));
                region.range = PhysRange::new(start, start);
            }
        }
        regions.sort_unstable_by_key(|region| (region.kind, region.range.start));
        let others = regions.partition_point(|region| region.kind == RegionKind::Usable);
        let (usable, others) = regions.split_at(others);

        let mut out = Output::new(room, options);
        let mut taken = Taken { others, until: Pfn(0) };
        for range in (Joined { regions: usable }) {
            taken.subtract(range, &mut out, findings);
        }
        out.finish(findings)
    }

    /// The usable ranges, ascending.
    pub fn usable(&self) -> &'m [PfnRange] {
        self.usable
    }

    /// Usable frames in all.
    pub fn frames(&self) -> u64 {
        self.usable.iter().map(|range| range.len()).sum()
    }

    /// One past the highest usable byte; 0 without memory.
    pub fn end(&self) -> PhysAddr {
        self.usable.last().map(|range| range.end.addr()).unwrap_or_default()
    }

    /// Whether `range` has a usable byte. Takes a binary search.
    pub fn touches(&self, range: PhysRange) -> bool {
        let first = self.usable.partition_point(|usable| usable.end.addr() <= range.start);
        self.usable.get(first).is_some_and(|usable| usable.bytes().overlaps(range))
    }

    /// The lowest end with which `within` has `frames` usable frames, counted from its start;
    /// `None` when it has fewer.
    pub fn reach(&self, within: PfnRange, frames: u64) -> Option<Pfn> {
        let first = self.usable.partition_point(|usable| usable.end <= within.start);
        let parts = self.usable.iter().skip(first).map(|usable| usable.intersect(within));
        let mut left = frames;
        for part in parts.take_while(|part| !part.is_empty()) {
            if part.len() >= left {
                return Some(Pfn(part.start.0 + left));
            }
            left -= part.len();
        }
        None
    }
}

/// Usable regions, sorted by start, overlapping and touching ones as one.
struct Joined<'a> {
    regions: &'a [Region],
}

impl Iterator for Joined<'_> {
    type Item = PhysRange;

    fn next(&mut self) -> Option<PhysRange> {
        let (first, mut rest) = self.regions.split_first()?;
        let mut range = first.range;
        while let Some((next, after)) = rest.split_first() {
            if next.range.start > range.end {
                break;
            }
            range.end = range.end.max(next.range.end);
            rest = after;
        }
        self.regions = rest;
        Some(range)
    }
}

/// Walks the regions that are not usable, along with the usable ones, both ascending.
struct Taken<'a> {
    others: &'a [Region],
    /// What is below this frame has been dealt with.
    until: Pfn,
}

impl Taken<'_> {
    fn subtract(&mut self, range: PhysRange, out: &mut Output<'_>, findings: &mut dyn Findings) {
        let frames = range.whole_frames();
        let mut start = frames.start.max(self.until);
        while let Some((other, rest)) = self.others.split_first() {
            let touched = other.range.touched_frames();
            if touched.start >= frames.end {
                break;
            }
            self.others = rest;
            // An empty region touches no frame, wherever in one it lies.
            if other.range.is_empty() {
                continue;
            }
            let both = other.range.intersect(range);
            if !both.is_empty() {
                findings.add(Finding::new(Kind::MemoryMapOverlap { range: both }));
            }
            out.push(PfnRange { start, end: touched.start });
            self.until = self.until.max(touched.end);
            start = start.max(self.until);
        }
        out.push(PfnRange { start, end: frames.end });
    }
}

#[cfg(test)]
mod tests;
