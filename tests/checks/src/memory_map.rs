//! The memory map, with the user's changes, frame by frame against the rule: a frame is usable if
//! all of it is, and nothing else touches it.

use arbitrary::{Arbitrary, Result, Unstructured};
use nearmem::topology::{Change, ChangeRoom, MapOptions, MemoryMap, Region, RegionKind};
use nearmem::{PfnRange, PhysAddr, PhysRange};

use crate::Collected;

/// Takes regions, options and changes, as `arbitrary` makes them of bytes.
pub fn check(bytes: &[u8]) {
    let mut bytes = Unstructured::new(bytes);
    let _ = check_input(&mut bytes);
}

/// The most regions and the most changes: enough for everything that can meet, and no more.
const MOST: usize = 24;

fn check_input(bytes: &mut Unstructured<'_>) -> Result<()> {
    let limit = bytes.arbitrary::<Option<u64>>()?.map(PhysAddr);
    let options = MapOptions { hold_back_bios: bytes.arbitrary()?, limit };
    let mut regions = Vec::new();
    for _ in 0..bytes.int_in_range(0..=MOST)? {
        let range = any_range(bytes)?;
        regions.push(Region { range, kind: any_kind(bytes)? });
    }
    let mut changes = Vec::new();
    for _ in 0..bytes.int_in_range(0..=MOST)? {
        changes.push(match bytes.int_in_range(0..=8)? {
            0 => Change::Exact,
            1 | 2 => Change::Limit(any_range(bytes)?.end),
            _ => Change::Add(Region { range: any_range(bytes)?, kind: any_kind(bytes)? }),
        });
    }
    let short = bytes.int_in_range(0..=MOST)?;
    check_map(&regions, options, &changes);
    check_short_room(&regions, options, short);
    Ok(())
}

/// A range of bytes: of whole frames or not, near the BIOS, near 2^64, backward now and then.
pub fn any_range(bytes: &mut Unstructured<'_>) -> Result<PhysRange> {
    let unit = *bytes.choose(&[0x800, 0x1000, 0x1000, 3000, 1 << 20, 1 << 20, 1 << 28, 1])?;
    let (at, length) = (u64::from(u16::arbitrary(bytes)?), u64::from(u8::arbitrary(bytes)?));
    let range = PhysRange::new(at * unit, (at + length) * unit);
    Ok(match bytes.int_in_range(0..=31)? {
        0 => PhysRange { start: range.end, end: range.start },
        1 => PhysRange::new(u64::MAX - range.end.0, u64::MAX - range.start.0),
        2 => PhysRange::new(u64::arbitrary(bytes)?, u64::arbitrary(bytes)?),
        _ => range,
    })
}

fn any_kind(bytes: &mut Unstructured<'_>) -> Result<RegionKind> {
    Ok(if bytes.ratio(2, 3)? { RegionKind::Usable } else { RegionKind::Other })
}

fn check_map(regions: &[Region], options: MapOptions, changes: &[Change]) {
    let mut found = Collected::default();
    let mut sorted = regions.to_vec();
    let mut room = vec![PfnRange::default(); regions.len() + 2];
    let map = MemoryMap::build(&mut sorted, &mut room, options, &mut found);
    found.check(2 * regions.len() + 3, &[]);
    check_ranges(&map);
    for frame in border_frames(&map, regions) {
        let expected = is_usable(frame, regions, options);
        assert_eq!(has(&map, frame), expected, "frame {frame:#x} of {regions:x?}");
    }
    check_again(&map);

    let mut found = Collected::default();
    let mut scratch = vec![Region::default(); map.usable().len() + changes.len()];
    let mut wanted = vec![PfnRange::default(); scratch.len() + 2];
    let mut usable = vec![PfnRange::default(); map.usable().len() + wanted.len()];
    let room = ChangeRoom { regions: &mut scratch, wanted: &mut wanted };
    let changed = map.changed(changes.iter().copied(), room, &mut usable, options, &mut found);
    found.check(3, &[]);
    assert!(!found.has("memmap-full") && !found.has("memory-map-full"), "the room is enough");
    check_ranges(&changed);
    let after = replay(&map, changes);
    let no_limit = MapOptions { limit: None, ..options };
    for frame in border_frames(&changed, &after) {
        let expected = has(&map, frame) && is_usable(frame, &after, no_limit);
        assert_eq!(has(&changed, frame), expected, "frame {frame:#x} after {changes:x?}");
    }
    check_again(&changed);
}

/// With less room the lowest ranges are kept, and what is missing is said.
fn check_short_room(regions: &[Region], options: MapOptions, room: usize) {
    let mut whole_room = vec![PfnRange::default(); regions.len() + 2];
    let whole = MemoryMap::build(&mut regions.to_vec(), &mut whole_room, options, &mut |_| ());
    let mut found = Collected::default();
    let mut short_room = vec![PfnRange::default(); room];
    let short = MemoryMap::build(&mut regions.to_vec(), &mut short_room, options, &mut found);
    let kept = room.min(whole.usable().len());
    assert_eq!(short.usable(), &whole.usable()[..kept]);
    assert_eq!(found.has("memory-map-full"), kept < whole.usable().len());
}

/// The map of a map is that map.
fn check_again(map: &MemoryMap<'_>) {
    let whole = |range: &PfnRange| Region { range: range.bytes(), kind: RegionKind::Usable };
    let mut regions: Vec<_> = map.usable().iter().map(whole).collect();
    let mut room = vec![PfnRange::default(); regions.len()];
    let mut found = Collected::default();
    let again = MemoryMap::build(&mut regions, &mut room, MapOptions::default(), &mut found);
    assert_eq!(again.usable(), map.usable());
    assert!(found.kinds().all(|kind| kind.name() == "memory-map-empty"), "{found:?}");
}

/// Ascending, not empty, no two touching; the answers about them agree.
fn check_ranges(map: &MemoryMap<'_>) {
    for pair in map.usable().windows(2) {
        assert!(pair[0].end < pair[1].start, "{pair:?}");
    }
    for &range in map.usable() {
        assert!(!range.is_empty(), "{range:?}");
        assert!(map.touches(range.bytes()));
        assert_eq!(map.reach(range, range.len()), Some(range.end));
        assert_eq!(map.reach(range, range.len() + 1), None);
    }
    let all = PfnRange { end: map.end().pfn(), ..PfnRange::default() };
    assert_eq!(map.frames(), map.usable().iter().map(|range| range.len()).sum::<u64>());
    assert_eq!(map.reach(all, map.frames() + 1), None);
}

fn has(map: &MemoryMap<'_>, frame: u64) -> bool {
    map.usable().iter().any(|range| range.start.0 <= frame && frame < range.end.0)
}

/// The frames where something may change: around every border.
fn border_frames(map: &MemoryMap<'_>, regions: &[Region]) -> Vec<u64> {
    let regions = regions.iter().flat_map(|r| [r.range.start.pfn().0, r.range.end.pfn().0]);
    let ranges = map.usable().iter().flat_map(|range| [range.start.0, range.end.0]);
    let borders = regions.chain(ranges).chain([0, 0xa0, 0x100]);
    let around = borders.flat_map(|at| [at.saturating_sub(1), at, at + 1]);
    around.filter(|&frame| frame < u64::MAX >> 12).collect()
}

/// The rule. A region that ends before it starts is none.
fn is_usable(frame: u64, regions: &[Region], options: MapOptions) -> bool {
    let (start, end) = (frame << 12, (frame + 1) << 12);
    let held = options.hold_back_bios && (frame == 0 || (0xa0..0x100).contains(&frame));
    let above = options.limit.is_some_and(|limit| end > limit.0);
    let bytes = |region: &Region| (region.range.start.0, region.range.end.0);
    let touched = regions.iter().filter(|region| region.kind == RegionKind::Other).any(|region| {
        let (from, to) = bytes(region);
        from < to && from < end && to > start
    });
    let mut covered = start;
    while covered < end {
        let further = regions.iter().filter(|region| region.kind == RegionKind::Usable);
        let reach = further.map(bytes).filter(|&(from, to)| from <= covered && covered < to);
        match reach.map(|(_, to)| to).max() {
            Some(to) => covered = to,
            None => return false,
        }
    }
    !held && !above && !touched
}

/// The regions after the changes, one change after the other.
fn replay(map: &MemoryMap<'_>, changes: &[Change]) -> Vec<Region> {
    let whole = |range: &PfnRange| Region { range: range.bytes(), kind: RegionKind::Usable };
    let mut regions: Vec<_> = map.usable().iter().map(whole).collect();
    for change in changes {
        match *change {
            Change::Exact => regions.clear(),
            Change::Limit(limit) => {
                let usable = regions.iter_mut().filter(|r| r.kind == RegionKind::Usable);
                usable.for_each(|region| region.range.end = region.range.end.min(limit));
            }
            Change::Add(region) => regions.push(region),
        }
    }
    regions
}
