use super::*;
use nearmem::PAGE_SIZE;

use crate::paging::table::{Leaf, walk};
use crate::paging::test_memory::TestMemory;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const IMAGE: VirtAddr = VirtAddr(0xffff_ffff_8100_0000);

fn abilities(gib_pages: bool) -> Abilities {
    Abilities { flags: PageTableFlags::all(), gib_pages, physical_end: 1 << 46 }
}

/// Code, a constant, and two pages of data with a guard page between, in physical memory that is
/// not in order.
fn image(first: u64) -> Vec<ImagePart> {
    [(0, 0, Access::Execute), (1, 1, Access::Execute), (2, 2, Access::Read)]
        .into_iter()
        .chain([(3, 7, Access::Write), (5, 5, Access::Write)])
        .map(|(page, frame, access)| ImagePart {
            at: IMAGE + page * PAGE_SIZE,
            memory: PhysRange::new(first + frame * PAGE_SIZE, first + (frame + 1) * PAGE_SIZE),
            access,
        })
        .collect()
}

fn plan(abilities: Abilities, image: &[ImagePart], ranges: &[(u64, u64)]) -> (Summary, Vec<Leaf>) {
    let memory = TestMemory::new(64);
    // SAFETY: the memory gives each frame once.
    let builder =
        unsafe { Builder::new(&memory, || memory.next_frame(), u64::MAX, abilities.flags) };
    let mut builder = builder.unwrap();
    let ranges = ranges.iter().map(|&(start, end)| PhysRange::new(start, end));
    let (summary, _) = fill(&mut builder, abilities, image.iter().copied(), ranges).unwrap();
    let mut leaves = Vec::new();
    // SAFETY: the builder's root; nothing changes any more.
    unsafe { walk(&memory, builder.root(), &mut |leaf| leaves.push(leaf)) };
    (summary, leaves)
}

fn direct(leaves: &[Leaf]) -> Vec<(u64, u64, bool)> {
    let end = DIRECT_MAP.0 + DIRECT_MAP_SIZE;
    let inside = leaves.iter().filter(|leaf| (DIRECT_MAP.0..end).contains(&leaf.at.0));
    inside
        .map(|leaf| {
            assert_eq!(leaf.at.0 - DIRECT_MAP.0, leaf.entry.addr().0);
            let writable = leaf.entry.flags().contains(PageTableFlags::WRITABLE);
            (leaf.entry.addr().0, leaf.level.span(), writable)
        })
        .collect()
}

#[test]
fn nothing_is_writable_here_and_executable_there() {
    let (_, leaves) = plan(abilities(true), &image(16 * MIB), &[(0, 3 * GIB)]);
    let may = |leaf: &Leaf, flag| leaf.entry.flags().contains(flag);
    let executable = |leaf: &&Leaf| !may(leaf, PageTableFlags::NO_EXECUTE);
    let code: Vec<_> = leaves.iter().filter(executable).collect();
    assert_eq!(code.len(), 2);
    for code in code {
        let overlapping = leaves.iter().filter(|leaf| {
            let start = leaf.entry.addr().0;
            (start..start + leaf.level.span()).contains(&code.entry.addr().0)
        });
        assert!(overlapping.clone().count() == 2);
        for leaf in overlapping {
            assert!(!may(leaf, PageTableFlags::WRITABLE), "at {:?}", leaf.at);
        }
    }
}

#[test]
fn constants_are_fixed_and_guard_pages_are_not_mapped() {
    let (summary, leaves) = plan(abilities(true), &image(16 * MIB), &[(0, 3 * GIB)]);
    let find = |at: VirtAddr| leaves.iter().find(|leaf| leaf.at == at);
    let writable = |at| find(at).map(|leaf| leaf.entry.flags().contains(PageTableFlags::WRITABLE));
    assert_eq!(writable(IMAGE + 2 * PAGE_SIZE), Some(false));
    assert_eq!(writable(DIRECT_MAP + 16 * MIB + 2 * PAGE_SIZE), Some(false));
    assert_eq!(writable(IMAGE + 3 * PAGE_SIZE), Some(true));
    assert_eq!(writable(IMAGE + 4 * PAGE_SIZE), None);
    assert_eq!(summary.image, Leaves { kib4: 5, ..Leaves::default() });
}

#[test]
fn leaves_are_as_large_as_the_cpu_and_the_range_allow() {
    let range = [(GIB - MIB * 4, 3 * GIB + 5 * PAGE_SIZE)];
    let (summary, leaves) = plan(abilities(true), &[], &range);
    assert_eq!(summary.direct_map, Leaves { gib: 2, mib2: 2, kib4: 5 });
    assert_eq!(summary.direct_map.bytes(), range[0].1 - range[0].0);
    assert_eq!(direct(&leaves)[2], (GIB, GIB, true));
    let (summary, _) = plan(abilities(false), &[], &range);
    assert_eq!(summary.direct_map, Leaves { gib: 0, mib2: 1026, kib4: 5 });
}

#[test]
fn ranges_may_overlap_come_in_any_order_and_are_widened_to_frames() {
    let ranges = [(2 * MIB, 4 * MIB), (0x9fc00, 0xa0000), (0, 0x9fc00), (3 * MIB, 6 * MIB)];
    let (summary, leaves) = plan(abilities(true), &[], &ranges);
    assert_eq!(summary.direct_map, Leaves { gib: 0, mib2: 2, kib4: 0xa0 });
    assert_eq!(direct(&leaves).len(), 0xa2);
}

/// Every page of a table that has one in its middle already, whatever lies around it.
#[test]
fn a_table_is_filled_around_what_is_there() {
    for hole in [0, 1, 7, 8, 9, 255, 510, 511] {
        let at = hole * PAGE_SIZE;
        let ranges = [(at, at + PAGE_SIZE), (PAGE_SIZE * 3, 2 * MIB - PAGE_SIZE), (0, 2 * MIB)];
        let (summary, leaves) = plan(abilities(true), &[], &ranges);
        assert_eq!(summary.direct_map, Leaves { kib4: 512, ..Leaves::default() });
        let expected = (0..512).map(|page| (page * PAGE_SIZE, PAGE_SIZE, true));
        assert!(direct(&leaves).into_iter().eq(expected), "page {hole} first");
    }
}

#[test]
fn what_is_out_of_reach_is_left_out_and_counted() {
    let ranges = [(DIRECT_MAP_SIZE - GIB, DIRECT_MAP_SIZE + 3 * GIB), (u64::MAX - 9, u64::MAX)];
    let (summary, _) = plan(abilities(true), &[], &ranges);
    assert_eq!(summary.direct_map, Leaves { gib: 1, ..Leaves::default() });
    assert_eq!(summary.out_of_reach, 3 * GIB + 9);
    let narrow = Abilities { physical_end: 1 << 36, ..abilities(true) };
    let (summary, _) = plan(narrow, &[], &[(1 << 35, 1 << 37)]);
    assert_eq!((summary.direct_map.gib, summary.out_of_reach), (32, 1 << 36));
}

#[test]
fn the_cost_grows_with_ram_and_not_with_the_highest_address() {
    let (low, _) = plan(abilities(true), &[], &[(0, GIB)]);
    let (high, _) = plan(abilities(true), &[], &[(63 << 40, (63 << 40) + GIB)]);
    assert_eq!(low.table_frames, high.table_frames);
}

#[test]
fn flags_that_the_cpu_does_not_know_are_left_out() {
    let known = PageTableFlags::all() - PageTableFlags::NO_EXECUTE - PageTableFlags::GLOBAL;
    let (_, leaves) =
        plan(Abilities { flags: known, ..abilities(true) }, &image(16 * MIB), &[(0, GIB)]);
    assert!(leaves.iter().all(|leaf| known.contains(leaf.entry.flags())));
}

#[test]
fn no_frame_and_a_frame_out_of_reach_are_errors() {
    let memory = TestMemory::new(3);
    let run = |reach| {
        // SAFETY: the memory gives each frame once.
        let builder =
            unsafe { Builder::new(&memory, || memory.next_frame(), reach, PageTableFlags::all()) };
        let ranges = [PhysRange::new(0, MIB)];
        builder.and_then(|mut builder| {
            fill(&mut builder, abilities(true), core::iter::empty(), ranges.into_iter())
        })
    };
    assert_eq!(run(PAGE_SIZE).err(), Some(BuildError::FrameOutOfReach(PhysAddr(PAGE_SIZE))));
    assert_eq!(run(u64::MAX).err(), Some(BuildError::NoFrame));
}
