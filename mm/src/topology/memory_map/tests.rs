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
fn empty_and_backward_regions_take_no_frame() {
    let backward = (0x20800, 0x10800, Other);
    let map = [(0, 0x40000, Usable), (0x10800, 0x10800, Other), backward];
    assert_eq!(build(&map, PLAIN), (vec![(0, 0x40)], vec!["memory-map-bad-region"]));
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
    assert_eq!(build(&map, PLAIN), (vec![(0, 8), (top - 1, top)], vec!["memory-map-bad-region"]));
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
