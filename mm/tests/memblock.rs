//! The boot allocator: where it looks first, what it never hands out, and random histories
//! against one flag per KiB.

use nearmem::memblock::{BootAllocError, BootBlock, BootRequest, MemBlock, Storage};
use nearmem::topology::{HeapRoom, NodeMap, NodeRange, StorageNeeds};
use nearmem::{NodeId, PfnRange, PhysRange};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// Builds the boot allocator of ranges `(node, first byte, end)`, with room for `slots` reserved
/// ranges, and lends it to `test`.
fn with_boot<R>(
    memory: &[(u16, u64, u64)],
    slots: usize,
    test: impl FnOnce(&mut MemBlock<'_>) -> R,
) -> R {
    let ranges: Vec<NodeRange> = memory
        .iter()
        .map(|&(node, start, end)| NodeRange {
            frames: PfnRange::new(start / 4096, end / 4096),
            node: NodeId(node),
        })
        .collect();
    let needs = StorageNeeds { nodes: 4, ranges: ranges.len(), ..StorageNeeds::default() };
    let mut room = HeapRoom::new(needs);
    let map = NodeMap::from_parts(&ranges, &[], |_, _| 20, room.storage());
    let mut memory = vec![NodeRange::NONE; ranges.len()];
    let mut reserved = vec![PhysRange::default(); slots];
    test(&mut MemBlock::new(&map, Storage { memory: &mut memory, reserved: &mut reserved }))
}

fn on(node: u16, bytes: u64) -> BootRequest {
    BootRequest { bytes, align: 4096, node: Some(NodeId(node)), strict: false }
}

fn anywhere(bytes: u64) -> BootRequest {
    BootRequest { bytes, align: 4096, node: None, strict: false }
}

fn block(start: u64, end: u64, node: u16) -> Result<BootBlock, BootAllocError> {
    Ok(BootBlock { range: PhysRange::new(start, end), node: NodeId(node) })
}

#[test]
fn memory_is_used_upward_from_16_mib_and_below_it_last() {
    with_boot(&[(0, 4096, 18 * MIB)], 8, |boot| {
        assert_eq!(boot.alloc(anywhere(MIB)), block(16 * MIB, 17 * MIB, 0));
        assert_eq!(boot.alloc(on(0, MIB)), block(17 * MIB, 18 * MIB, 0));
        // Nothing else fits. Frame 0 is not there.
        assert_eq!(boot.alloc(anywhere(MIB)), block(4096, MIB + 4096, 0));
        assert_eq!(boot.alloc(anywhere(16 * MIB)), Err(BootAllocError::NoRoom { bytes: 16 * MIB }));
    });
}

#[test]
fn what_falls_back_to_another_node_is_remembered() {
    let memory = [(0, 16 * MIB, 64 * MIB), (1, 64 * MIB, 65 * MIB)];
    with_boot(&memory, 8, |boot| {
        boot.alloc(on(1, MIB / 4)).unwrap();
        boot.alloc(on(0, MIB)).unwrap();
        boot.alloc(anywhere(MIB)).unwrap();
        boot.alloc(BootRequest { strict: true, ..on(1, MIB) }).unwrap_err();
        assert_eq!(boot.fallbacks().count(), 0);
        for _ in 0..20 {
            boot.alloc(on(1, MIB)).unwrap();
        }
        boot.alloc(on(3, 1000)).unwrap();
        let [first, .., last] = boot.fallbacks().first().collect::<Vec<_>>()[..] else {
            panic!("several")
        };
        assert_eq!((first, boot.fallbacks().count()), (last, 21));
        assert_eq!(
            first.to_string(),
            "boot memory of 1048576 bytes for Node 1 is on Node 0: \
             Node 1 has 786432 bytes free, nowhere as many in one piece"
        );
    });
}

#[test]
fn the_wanted_node_is_used_up_before_another() {
    // Node 1 lies below 16 MiB but for 1 MiB.
    let memory = [(1, 2 * MIB, 4 * MIB), (0, 8 * MIB, 32 * MIB), (1, 32 * MIB, 33 * MIB)];
    with_boot(&memory, 8, |boot| {
        assert_eq!(boot.alloc(on(1, MIB)), block(32 * MIB, 33 * MIB, 1));
        assert_eq!(boot.alloc(on(1, 2 * MIB)), block(2 * MIB, 4 * MIB, 1));
        let strict = BootRequest { strict: true, ..on(1, MIB) };
        assert_eq!(boot.alloc(strict), Err(BootAllocError::NoRoom { bytes: MIB }));
        // The answer says that it is another node.
        assert_eq!(boot.alloc(on(1, MIB)), block(16 * MIB, 17 * MIB, 0));
        assert_eq!(boot.alloc(on(3, MIB)), block(17 * MIB, 18 * MIB, 0));
        let nowhere = BootRequest { strict: true, ..on(3, MIB) };
        assert_eq!(boot.alloc(nowhere), Err(BootAllocError::NoRoom { bytes: MIB }));
    });
}

#[test]
fn without_a_node_the_lowest_address_counts() {
    with_boot(&[(2, 20 * MIB, 21 * MIB), (0, 30 * MIB, 40 * MIB)], 8, |boot| {
        assert_eq!(boot.alloc(anywhere(MIB)), block(20 * MIB, 21 * MIB, 2));
        assert_eq!(boot.alloc(anywhere(MIB)), block(30 * MIB, 31 * MIB, 0));
    });
}

#[test]
fn no_block_spans_two_nodes() {
    with_boot(&[(0, 16 * MIB, 18 * MIB), (1, 18 * MIB, 22 * MIB)], 8, |boot| {
        assert_eq!(boot.alloc(anywhere(3 * MIB)), block(18 * MIB, 21 * MIB, 1));
    });
}

#[test]
fn alignment_is_kept_and_frames_in_use_are_not_free() {
    with_boot(&[(0, 16 * MIB, 20 * MIB)], 8, |boot| {
        boot.reserve(PhysRange::new(16 * MIB + 4095, 16 * MIB + 4097)).unwrap();
        let small = BootRequest { bytes: 100, align: 64, node: None, strict: false };
        assert_eq!(boot.alloc(small), block(16 * MIB, 16 * MIB + 100, 0));
        let large = BootRequest { bytes: 10, align: 2 * MIB, node: None, strict: false };
        assert_eq!(boot.alloc(large), block(18 * MIB, 18 * MIB + 10, 0));
        let free: Vec<_> = boot.free_ranges().map(|range| range.frames).collect();
        assert_eq!(free, [PfnRange::new(4096 + 2, 4608), PfnRange::new(4609, 5120)]);
    });
}

#[test]
fn bad_requests_are_errors() {
    with_boot(&[(0, 16 * MIB, 20 * MIB)], 8, |boot| {
        for (bytes, align) in [(0, 64), (1, 0), (1, 3), (1, 4096 * 3)] {
            let request = BootRequest { bytes, align, node: None, strict: false };
            assert_eq!(boot.alloc(request), Err(BootAllocError::BadRequest));
        }
        for (bytes, align) in [(u64::MAX, 1), (u64::MAX, 1 << 63), (1, 1 << 63)] {
            let request = BootRequest { bytes, align, node: None, strict: false };
            assert_eq!(boot.alloc(request), Err(BootAllocError::NoRoom { bytes }));
        }
        assert!(boot.reserved().is_empty());
    });
}

#[test]
fn a_full_list_is_an_error_and_changes_nothing() {
    with_boot(&[(0, 16 * MIB, 20 * MIB)], 2, |boot| {
        boot.reserve(PhysRange::new(17 * MIB, 18 * MIB)).unwrap();
        boot.reserve(PhysRange::new(0, 10)).unwrap();
        let before = boot.reserved().to_vec();
        let range = PhysRange::new(19 * MIB, 20 * MIB);
        assert_eq!(boot.reserve(range), Err(BootAllocError::TooManyRanges));
        let hole = PhysRange::new(17 * MIB + 5, 17 * MIB + 6);
        assert_eq!(boot.free(hole), Err(BootAllocError::TooManyRanges));
        assert_eq!(boot.alloc(anywhere(4096)), Err(BootAllocError::TooManyRanges));
        assert_eq!(boot.reserved(), before);
    });
}

#[test]
fn memory_beyond_the_list_and_frame_0_are_left_out() {
    let range = |start, end| NodeRange { frames: PfnRange::new(start, end), node: NodeId(0) };
    let needs = StorageNeeds { nodes: 1, ranges: 3, ..StorageNeeds::default() };
    let mut room = HeapRoom::new(needs);
    let ranges = [range(0, 1), range(2, 5), range(6, 9)];
    let map = NodeMap::from_parts(&ranges, &[], |_, _| 10, room.storage());
    let mut one = [NodeRange::NONE];
    let boot = MemBlock::new(&map, Storage { memory: &mut one, reserved: &mut [] });
    assert_eq!(boot.memory(), [range(2, 5)]);
    assert_eq!(boot.left_out(), 3);
}

#[test]
fn usage_and_dma_reserve_count_what_is_taken() {
    with_boot(&[(0, 4096, 32 * MIB), (1, 32 * MIB, 48 * MIB)], 8, |boot| {
        boot.reserve(PhysRange::new(0, MIB)).unwrap();
        boot.reserve(PhysRange::new(15 * MIB, 17 * MIB + 1)).unwrap();
        boot.reserve(PhysRange::new(40 * MIB, 100 * MIB)).unwrap();
        let usage = boot.usage(NodeId(0));
        assert_eq!((usage.memory, usage.reserved), (32 * MIB - 4096, 3 * MIB + 1 - 4096));
        let usage = boot.usage(NodeId(1));
        assert_eq!((usage.memory, usage.reserved), (16 * MIB, 8 * MIB));
        assert_eq!(boot.dma_reserve(), 255 + 256);
    });
}

/// The model: one flag per KiB of 64 MiB.
struct Flags {
    memory: Vec<(u16, u64, u64)>,
    taken: Vec<bool>,
}

impl Flags {
    fn mark(&mut self, start: u64, end: u64, taken: bool) {
        self.taken[(start / 1024) as usize..(end / 1024) as usize].fill(taken);
    }

    fn find(&self, request: BootRequest) -> Option<(u64, u16)> {
        let nodes = match request.node {
            Some(node) if request.strict => vec![Some(node)],
            Some(node) => vec![Some(node), None],
            None => vec![None],
        };
        for node in nodes {
            for floor in [16 * MIB, 0] {
                for &(owner, first, end) in &self.memory {
                    if node.is_some_and(|node| node.0 != owner) {
                        continue;
                    }
                    let step = request.align.max(1024);
                    let mut start = first.max(floor).next_multiple_of(step);
                    while start + request.bytes <= end {
                        let free = &self.taken[(start / 1024) as usize..]
                            [..(request.bytes / 1024) as usize];
                        if !free.contains(&true) {
                            return Some((start, owner));
                        }
                        start += step;
                    }
                }
            }
        }
        None
    }
}

#[derive(Clone, Debug)]
enum Step {
    Reserve(u64, u64),
    Free(u64, u64),
    Alloc { kib: u64, align: u32, node: Option<u16>, strict: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = || (0..60_000_u64, 1..3000_u64).prop_map(|(at, len)| (at, at + len));
    prop::collection::vec(
        prop_oneof![
            range().prop_map(|(start, end)| Step::Reserve(start, end)),
            range().prop_map(|(start, end)| Step::Free(start, end)),
            (1..9000_u64, 0..22_u32, proptest::option::of(0..4_u16), any::<bool>())
                .prop_map(|(kib, align, node, strict)| Step::Alloc { kib, align, node, strict }),
        ],
        1..40,
    )
}

fn memory() -> impl Strategy<Value = Vec<(u16, u64, u64)>> {
    prop::collection::vec((0..3_u16, 1..3000_u64, 0..600_u64), 1..8).prop_map(|parts| {
        let mut at = 1;
        let mut ranges: Vec<(u16, u64, u64)> = Vec::new();
        for (node, len, gap) in parts {
            let start = at + gap;
            let end = (start + len).min(16384);
            if start >= end {
                break;
            }
            at = end;
            match ranges.last_mut() {
                // The map joins what touches.
                Some(last) if last.0 == node && last.2 == start * 4096 => last.2 = end * 4096,
                _ => ranges.push((node, start * 4096, end * 4096)),
            }
        }
        ranges
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 200 }, max_shrink_iters: 400, ..Default::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn histories_equal_those_of_the_model(memory in memory(), steps in steps()) {
        let mut model = Flags { memory: memory.clone(), taken: vec![false; 65536] };
        with_boot(&memory, 200, |boot| {
            for step in steps {
                match step {
                    Step::Reserve(start, end) => {
                        boot.reserve(PhysRange::new(start * 1024, end * 1024)).unwrap();
                        model.mark(start * 1024, end * 1024, true);
                    }
                    Step::Free(start, end) => {
                        boot.free(PhysRange::new(start * 1024, end * 1024)).unwrap();
                        model.mark(start * 1024, end * 1024, false);
                    }
                    Step::Alloc { kib, align, node, strict } => {
                        let request = BootRequest {
                            bytes: kib * 1024,
                            align: 1 << align,
                            node: node.map(NodeId),
                            strict,
                        };
                        let got = boot.alloc(request).ok();
                        let place = got.map(|block| (block.range.start.0, block.node.0));
                        prop_assert_eq!(place, model.find(request));
                        if let Some(block) = got {
                            prop_assert_eq!(block.range.len(), request.bytes);
                            model.mark(block.range.start.0, block.range.end.0, true);
                        }
                    }
                }
                for pair in boot.reserved().windows(2) {
                    prop_assert!(pair[0].end < pair[1].start);
                }
            }
            let free: Vec<u64> = boot
                .free_ranges()
                .flat_map(|range| range.frames.start.0..range.frames.end.0)
                .collect();
            let expected: Vec<u64> = memory
                .iter()
                .flat_map(|&(_, start, end)| start / 4096..end / 4096)
                .filter(|&frame| !model.taken[frame as usize * 4..][..4].contains(&true))
                .collect();
            prop_assert_eq!(free, expected);
            Ok(())
        })?;
    }
}
