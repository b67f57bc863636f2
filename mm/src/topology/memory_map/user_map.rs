//! The firmware's memory map and the user's changes -> the memory map that counts.
//!
//! The changes are done one after the other, as Linux does them on its e820 table; then a frame is
//! usable if a usable region has it and no other kind of region touches it, whatever their order.
//! Unlike Linux nothing becomes memory that the firmware does not call usable: it would not be
//! there, or be somebody else's.

use super::{MapOptions, MemoryMap, Region, RegionKind};
use crate::finding::{Finding, Findings, Kind};
use crate::units::{PfnRange, PhysAddr};

/// One change of the memory map, as `memmap=` and `mem=` have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Forget the firmware's map, and the changes so far: only what follows counts.
    Exact,
    /// No usable memory at or above this address.
    Limit(PhysAddr),
    /// One region more.
    Add(Region),
}

/// Memory to work in, free again afterwards.
#[derive(Debug)]
pub struct ChangeRoom<'r> {
    /// At least as many as the firmware's map has ranges and the user adds.
    pub regions: &'r mut [Region],
    /// As many, and two more.
    pub wanted: &'r mut [PfnRange],
}

impl MemoryMap<'_> {
    /// This map, which was built with `options`, with the user's changes: never more than it has.
    /// `usable` takes the new ranges, at most as many as this map and `room.wanted` have together.
    ///
    /// What the user calls usable and this map does not is a finding, and so is what finds no room.
    pub fn changed<'m>(
        &self,
        changes: impl Iterator<Item = Change>,
        room: ChangeRoom<'_>,
        usable: &'m mut [PfnRange],
        options: MapOptions,
        findings: &mut dyn Findings,
    ) -> MemoryMap<'m> {
        let ChangeRoom { regions, wanted } = room;
        let (count, lost) = replay(self, changes, regions);
        if lost > 0 {
            findings.add(Finding::new(Kind::MemmapFull { regions: lost }));
        }
        let regions = regions.get_mut(..count).unwrap_or_default();
        // What the user takes away, or limits to nothing, is no fault of the map.
        let mut faults = |finding: Finding| {
            if matches!(finding.kind, Kind::MemoryMapFull { .. }) {
                findings.add(finding);
            }
        };
        let options = MapOptions { limit: None, ..options };
        let wanted = MemoryMap::build(regions, wanted, options, &mut faults);
        both(&wanted, self, usable, findings)
    }
}

/// Does the changes; says how many regions there are now, and how many found no room.
fn replay(
    firmware: &MemoryMap<'_>,
    changes: impl Iterator<Item = Change>,
    room: &mut [Region],
) -> (usize, u64) {
    let start = firmware
        .usable
        .iter()
        .map(|range| Change::Add(Region { range: range.bytes(), kind: RegionKind::Usable }));
    let (mut count, mut lost) = (0, 0);
    for change in start.chain(changes) {
        match change {
            Change::Exact => (count, lost) = (0, 0),
            Change::Limit(limit) => {
                let usable = room.iter_mut().take(count).filter(|r| r.kind == RegionKind::Usable);
                usable.for_each(|Region { range, .. }| range.end = range.end.min(limit));
            }
            Change::Add(region) => match room.get_mut(count) {
                Some(slot) => {
                    *slot = region;
                    count += 1;
                }
                None => lost += 1,
            },
        }
    }
    (count, lost)
}

/// What is in both maps. What only the wanted one has is a finding.
fn both<'m>(
    wanted: &MemoryMap<'_>,
    firmware: &MemoryMap<'_>,
    room: &'m mut [PfnRange],
    findings: &mut dyn Findings,
) -> MemoryMap<'m> {
    let (mut count, mut kept, mut no_room) = (0, 0, 0);
    let (mut left, mut right) = (wanted.usable, firmware.usable);
    while let ([first, rest_left @ ..], [second, rest_right @ ..]) = (left, right) {
        let common = first.intersect(*second);
        if !common.is_empty() {
            kept += common.len();
            match room.get_mut(count) {
                Some(slot) => {
                    *slot = common;
                    count += 1;
                }
                None => no_room += common.len(),
            }
        }
        match first.end <= second.end {
            true => left = rest_left,
            false => right = rest_right,
        }
    }
    if wanted.frames() > kept {
        let kind = Kind::MemmapNotMemory { frames: wanted.frames() - kept };
        findings.add(Finding::new(kind));
    }
    if no_room > 0 {
        let kind = Kind::MemoryMapFull { limit: room.len() as u32, lost: no_room };
        findings.add(Finding::new(kind));
    }
    MemoryMap { usable: room.get(..count).unwrap_or_default() }
}

#[cfg(test)]
#[path = "user_map_tests.rs"]
mod tests;
