//! The firmware's memory map -> usable whole frames.
//!
//! A frame is usable only if all of it is, and no region of another kind touches it: what the
//! firmware calls usable and reserved at once is reserved.

use crate::finding::{Finding, Findings, Kind};
use crate::units::{Pfn, PfnRange, PhysAddr, PhysRange};

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

/// The BIOS's memory: real-mode vectors and data, and the window of adapters and ROMs.
const BIOS: [PfnRange; 2] = [PfnRange::new(0, 1), PfnRange::new(0xa0, 0x100)];

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
            if touched.is_empty() {
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

/// Collects ranges, without what the options leave out.
struct Output<'m> {
    room: &'m mut [PfnRange],
    count: usize,
    options: MapOptions,
    above_limit: u64,
    lost: u64,
}

impl<'m> Output<'m> {
    fn new(room: &'m mut [PfnRange], options: MapOptions) -> Output<'m> {
        Output { room, count: 0, options, above_limit: 0, lost: 0 }
    }

    fn push(&mut self, mut range: PfnRange) {
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

    fn finish(self, findings: &mut dyn Findings) -> MemoryMap<'m> {
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

#[cfg(test)]
mod tests {
    use super::RegionKind::{Other, Usable};
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn build(
        regions: &[(u64, u64, RegionKind)],
        options: MapOptions,
    ) -> (Vec<(u64, u64)>, Vec<&'static str>) {
        let mut regions: Vec<_> =
            regions.iter().map(|&(start, end, kind)| Region::new(start, end, kind)).collect();
        let mut room = vec![PfnRange::default(); regions.len() + 2];
        let mut names = Vec::new();
        let mut sink = |finding: Finding| names.push(finding.kind.name());
        let map = MemoryMap::build(&mut regions, &mut room, options, &mut sink);
        (map.usable().iter().map(|range| (range.start.0, range.end.0)).collect(), names)
    }

    const PLAIN: MapOptions = MapOptions { hold_back_bios: false, limit: None };
    const KERNEL: MapOptions = MapOptions { hold_back_bios: true, limit: None };

    #[test]
    fn unsorted_and_unaligned_regions_give_whole_frames() {
        let map = [
            (0x100000, 0x3ffd0800, Usable),
            (0x9fc00, 0xa0000, Other),
            (0, 0x9fc00, Usable),
            (0x3ffd0800, 0x40000000, Other),
        ];
        assert_eq!(build(&map, PLAIN), (vec![(0, 0x9f), (0x100, 0x3ffd0)], vec![]));
        assert_eq!(build(&map, KERNEL).0, [(1, 0x9f), (0x100, 0x3ffd0)]);
    }

    #[test]
    fn a_frame_of_two_usable_halves_is_whole() {
        assert_eq!(build(&[(0x1800, 0x3000, Usable), (0, 0x1800, Usable)], PLAIN).0, [(0, 3)]);
    }

    #[test]
    fn another_kind_wins_over_usable() {
        let map = [
            (0, 0x10000, Usable),
            (0x3800, 0x3900, Other),
            (0x2000, 0x8000, Other),
            (0x7000, 0x7001, Other),
            (0xf000, 0x20000, Other),
            (0x18000, 0x22000, Usable),
        ];
        assert_eq!(
            build(&map, PLAIN),
            (vec![(0, 2), (8, 0xf), (0x20, 0x22)], vec!["memory-map-overlap"; 4])
        );
    }

    #[test]
    fn low_memory_without_holes_is_held_back_for_the_bios() {
        assert_eq!(build(&[(0, 1 << 21, Usable)], KERNEL).0, [(1, 0xa0), (0x100, 0x200)]);
        assert_eq!(build(&[(0xb0000, 0xc0000, Usable)], KERNEL).0, []);
        assert_eq!(build(&[(0x90000, 0xc0000, Usable)], KERNEL).0, [(0x90, 0xa0)]);
        assert_eq!(build(&[(0xc0000, 0x180000, Usable)], KERNEL).0, [(0x100, 0x180)]);
    }

    #[test]
    fn memory_above_the_limit_is_left_out_with_a_finding() {
        let limit = MapOptions { limit: Some(PhysAddr(0x8000)), ..PLAIN };
        let map = [(0, 0xa000, Usable), (0xb000, 0xc000, Usable)];
        assert_eq!(build(&map, limit), (vec![(0, 8)], vec!["memory-above-limit"]));
    }

    #[test]
    fn odd_regions_do_no_harm() {
        let map = [
            (0x5000, 0x1000, Usable),
            (u64::MAX - 0x1fff, u64::MAX, Usable),
            (0x4000, 0x4000, Other),
            (0, 0x8000, Usable),
        ];
        let top = u64::MAX >> 12;
        assert_eq!(
            build(&map, PLAIN),
            (vec![(0, 8), (top - 1, top)], vec!["memory-map-bad-region"])
        );
        assert_eq!(build(&[], PLAIN), (vec![], vec!["memory-map-empty"]));
    }

    #[test]
    fn too_little_room_keeps_the_lowest_and_says_so() {
        let mut regions = [0, 2, 4].map(|at| Region::new(at << 12, (at + 1) << 12, Usable));
        let mut room = [PfnRange::default(); 2];
        let mut found = None;
        let mut sink = |finding: Finding| found = Some(finding.kind);
        let map = MemoryMap::build(&mut regions, &mut room, PLAIN, &mut sink);
        assert_eq!(map.usable(), [PfnRange::new(0, 1), PfnRange::new(2, 3)]);
        assert_eq!(map.frames(), 2);
        assert_eq!(found, Some(Kind::MemoryMapFull { limit: 2, lost: 1 }));
    }

    #[test]
    fn a_range_touches_memory_by_one_byte() {
        let mut regions = [Region::new(0x1000, 0x3000, Usable)];
        let mut room = [PfnRange::default(); 1];
        let map = MemoryMap::build(&mut regions, &mut room, PLAIN, &mut |_| ());
        assert!(map.touches(PhysRange::new(0x2fff, 0x9000)));
        assert!(!map.touches(PhysRange::new(0x3000, 0x9000)));
        assert!(!map.touches(PhysRange::new(0, 0x1000)));
        assert!(!map.touches(PhysRange::new(0x1500, 0x1500)));
    }
}
