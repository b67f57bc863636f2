use super::Change::{Add, Exact, Limit};
use super::RegionKind::{Other, Usable};
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

const PLAIN: MapOptions = MapOptions { hold_back_bios: false, limit: None };

/// The changes to a map of these frames: ranges, and the names of the findings.
fn changed(
    firmware: &[(u64, u64)],
    changes: &[Change],
    options: MapOptions,
) -> (Vec<(u64, u64)>, Vec<Kind>) {
    let firmware: Vec<_> = firmware.iter().map(|&(a, b)| PfnRange::new(a, b)).collect();
    let firmware = MemoryMap { usable: &firmware };
    let mut regions = vec![Region::default(); firmware.usable.len() + changes.len()];
    let mut wanted = vec![PfnRange::default(); regions.len() + 2];
    let mut usable = vec![PfnRange::default(); firmware.usable.len() + wanted.len()];
    let mut kinds = Vec::new();
    let mut sink = |finding: Finding| kinds.push(finding.kind);
    let room = ChangeRoom { regions: &mut regions, wanted: &mut wanted };
    let map = firmware.changed(changes.iter().copied(), room, &mut usable, options, &mut sink);
    (map.usable().iter().map(|range| (range.start.0, range.end.0)).collect(), kinds)
}

fn add(start: u64, end: u64, kind: RegionKind) -> Change {
    Add(Region::new(start, end, kind))
}

#[test]
fn without_a_change_the_map_stays() {
    let firmware = [(1, 0x9f), (0x100, 0x4000)];
    assert_eq!(changed(&firmware, &[], PLAIN), (firmware.to_vec(), vec![]));
}

#[test]
fn an_exact_map_is_only_what_follows() {
    let changes = [
        add(0x1000, 0x2000, Other),
        Exact,
        add(0, 0x9fc00, Usable),
        add(0x200000, 0x300800, Usable),
    ];
    let firmware = [(0, 0x9f), (0x100, 0x4000)];
    assert_eq!(changed(&firmware, &changes, PLAIN), (vec![(0, 0x9f), (0x200, 0x300)], vec![]));
    let held_back = MapOptions { hold_back_bios: true, limit: None };
    assert_eq!(changed(&firmware, &changes, held_back).0, [(1, 0x9f), (0x200, 0x300)]);
    assert_eq!(changed(&firmware, &[Exact], PLAIN).0, [(0, 0); 0]);
}

#[test]
fn what_the_firmware_does_not_have_is_left_out_with_a_finding() {
    let changes = [Exact, add(0, 0x100000, Usable)];
    let (map, kinds) = changed(&[(0x10, 0x20), (0x40, 0x80)], &changes, PLAIN);
    assert_eq!(map, [(0x10, 0x20), (0x40, 0x80)]);
    assert_eq!(kinds, [Kind::MemmapNotMemory { frames: 0x100 - 0x50 }]);
}

#[test]
fn another_kind_wins_over_usable_in_either_order_and_is_no_fault() {
    let firmware = [(0, 0x100)];
    let reserved = add(0x10000, 0x20001, Other);
    let both_orders = [[reserved, add(0, 0x40000, Usable)], [add(0, 0x40000, Usable), reserved]];
    for changes in both_orders {
        assert_eq!(changed(&firmware, &changes, PLAIN), (vec![(0, 0x10), (0x21, 0x100)], vec![]));
    }
}

#[test]
fn a_limit_is_for_what_stands_before_it() {
    let firmware = [(0, 0x10), (0x20, 0x100)];
    let limit = Limit(PhysAddr(0x30800));
    assert_eq!(changed(&firmware, &[limit], PLAIN), (vec![(0, 0x10), (0x20, 0x30)], vec![]));
    assert_eq!(changed(&firmware, &[Limit(PhysAddr(1))], PLAIN).0, [(0, 0); 0]);
    let after = [limit, add(0x50000, 0x60000, Usable)];
    assert_eq!(changed(&firmware, &after, PLAIN).0, [(0, 0x10), (0x20, 0x30), (0x50, 0x60)]);
}

#[test]
fn too_little_room_is_a_finding() {
    let firmware = [PfnRange::new(0, 8), PfnRange::new(0x10, 0x18)];
    let map = MemoryMap { usable: &firmware };
    let changes = [add(0x1000, 0x2000, Other), add(0x3000, 0x4000, Other)];
    let (mut regions, mut wanted) = ([Region::default(); 3], [PfnRange::default(); 8]);
    let (mut usable, mut kinds) = ([PfnRange::default(); 1], Vec::new());
    let room = ChangeRoom { regions: &mut regions, wanted: &mut wanted };
    let mut sink = |finding: Finding| kinds.push(finding.kind);
    let map = map.changed(changes.into_iter(), room, &mut usable, PLAIN, &mut sink);
    assert_eq!(map.usable(), [PfnRange::new(0, 1)]);
    let full = Kind::MemoryMapFull { limit: 1, lost: 14 };
    assert_eq!(kinds, [Kind::MemmapFull { regions: 1 }, full]);
}

/// Frames of the small world of the property test.
const FRAMES: u64 = 48;

fn any_change() -> impl Strategy<Value = Change> {
    // Half frames, so that regions end inside frames.
    let at = || (0..FRAMES * 2).prop_map(|half| half * 0x800);
    prop_oneof![
        1 => Just(Exact),
        2 => at().prop_map(|at| Limit(PhysAddr(at))),
        8 => (at(), at(), any::<bool>()).prop_map(|(a, b, usable)| {
            add(a.min(b), a.max(b), if usable { Usable } else { Other })
        }),
    ]
}

/// The same, half frame by half frame: usable, and touched by another kind.
fn by_halves(firmware: &BTreeSet<u64>, changes: &[Change]) -> BTreeSet<u64> {
    let mut usable: BTreeSet<u64> = firmware.iter().flat_map(|f| [f * 2, f * 2 + 1]).collect();
    let mut other = BTreeSet::new();
    for change in changes {
        match *change {
            Exact => {
                usable.clear();
                other.clear();
            }
            Limit(limit) => usable.retain(|half| half * 0x800 < limit.0),
            Add(region) => {
                let halves = region.range.start.0 / 0x800..region.range.end.0 / 0x800;
                match region.kind {
                    Usable => usable.extend(halves),
                    Other => other.extend(halves),
                }
            }
        }
    }
    let counts = |half: u64| usable.contains(&half) && !other.contains(&half);
    firmware.iter().copied().filter(|&f| counts(f * 2) && counts(f * 2 + 1)).collect()
}

proptest! {
    #[test]
    fn the_map_is_what_it_is_half_frame_by_half_frame(
        firmware in vec((0..FRAMES, 1..8u64), 0..6),
        changes in vec(any_change(), 0..12),
    ) {
        let frames: BTreeSet<u64> =
            firmware.iter().flat_map(|&(start, len)| start..(start + len).min(FRAMES)).collect();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &frame in &frames {
            match ranges.last_mut() {
                Some(last) if last.1 == frame => last.1 += 1,
                _ => ranges.push((frame, frame + 1)),
            }
        }
        let (map, _) = changed(&ranges, &changes, PLAIN);
        let made: BTreeSet<u64> = map.iter().flat_map(|&(start, end)| start..end).collect();
        prop_assert_eq!(made, by_halves(&frames, &changes));
        prop_assert!(map.windows(2).all(|pair| pair[0].1 < pair[1].0), "{map:?}");
    }
}
