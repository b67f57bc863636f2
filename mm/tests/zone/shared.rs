//! Zones as all CPUs share them.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use nearmem::zone::{Cursor, RowBatch, Watermarks, Zone, ZoneKind, zone_span};
use nearmem::{Order, Pfn, PfnRange, PhysRange};

use crate::machine::{Ram, RawZone as _, release_all, token, with_map, with_zone, zone_id};
use crate::suite::order;

fn blocks(zone: &Zone<'_>) -> Vec<u64> {
    zone.block_counts(&token(0)).to_vec()
}

fn shared_by_threads<T: Send + Sync>() {}

#[test]
fn a_zone_can_be_shared() {
    shared_by_threads::<Zone<'_>>();
}

#[test]
fn a_fresh_zone_has_all_frames_reserved() {
    with_map(&[(1, 0x100000, 0x140000)], |map| {
        let id = zone_id(1, ZoneKind::Normal);
        with_zone(map, id, |zone| {
            assert_eq!((zone.id(), zone.index()), (id, 7));
            assert_eq!(zone.span(), PfnRange::new(0x100000, 0x140000));
            assert_eq!((zone.present(), zone.managed(), zone.free()), (0x40000, 0, 0));
            assert_eq!(zone.take(&token(0), &Cursor::new(), Order::ZERO), None);
            assert_eq!(zone.watermarks(), Watermarks::default());
            assert_eq!((zone.leaked(), zone.protection(ZoneKind::Normal)), (0, 0));
            assert!(!zone.is_managed(&token(0), Pfn(0x100000)));
        });
    });
}

// The first seed's box as QEMU lays it out: 8 nodes of 3407488 kB, 2 GiB of them below 4 GiB. Each zone has
// room for 2 reserved ranges.
#[test]
fn the_box_of_2007_is_described_by_0_13_bytes_for_a_frame() {
    const NODE: u64 = 3407488 / 4;
    const BELOW_4G: u64 = 2 << 18;
    let above = |node: u64| (1 << 20) + node * NODE - BELOW_4G;
    let mut ranges = vec![(0, 0, 0x9f), (0, 0x100, BELOW_4G - 32), (0, 1 << 20, above(1))];
    ranges.extend((1..8).map(|node| (node as u16, above(node), above(node + 1))));
    with_map(&ranges, |map| {
        let (mut frames, mut bytes) = (0, 0);
        for node in 0..8 {
            for kind in ZoneKind::ALL {
                let id = zone_id(node, kind);
                frames += zone_span(map, id).present;
                bytes += match Zone::metadata_bytes(map, id, 2) {
                    0 => 0,
                    metadata => metadata + size_of::<Zone<'_>>() as u64,
                };
            }
        }
        assert_eq!(frames, 8 * NODE - 97 - 32);
        assert!(bytes * 100 <= frames * 13, "{bytes} bytes for {frames} frames");
    });
}

#[test]
fn too_little_memory_makes_no_zone() {
    with_map(&[(0, 0x1000, 0x9000)], |map| {
        let id = zone_id(0, ZoneKind::Dma32);
        let bytes = Zone::metadata_bytes(map, id, 0);
        let ram = Ram::new(bytes);
        for memory in [PhysRange::new(0, bytes - 8), PhysRange::new(8, bytes)] {
            // SAFETY: the memory is the zone's alone, and lives longer.
            assert!(unsafe { Zone::new(map, id, 0, memory, &ram) }.is_none());
        }
    });
}

#[test]
fn release_makes_maximal_blocks() {
    with_map(&[(0, 0x1003, 0x1a07)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            release_all(zone);
            assert_eq!((zone.managed(), zone.free()), (0xa04, 0xa04));
            // 3, 4.., 0x1400..0x1800, 0x1800..0x1a00, ..0x1a07
            assert_eq!(blocks(zone), [2, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1]);
        });
    });
}

// FR-62, in the small: halves that are released one by one merge as well.
#[test]
fn released_neighbours_merge() {
    with_map(&[(0, 0x1000, 0x2000)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            for start in [0x1800, 0x1000] {
                for start in (start..start + 0x800).step_by(0x10) {
                    zone.open(&token(0), PfnRange::new(start, start + 0x10)).unwrap();
                }
            }
            assert_eq!(blocks(zone), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
        });
    });
}

#[test]
fn small_pieces_are_used_when_nothing_else_is_left() {
    with_map(&[(0, 0x1000, 0x2000), (0, 0x2804, 0x2808), (0, 0x2810, 0x2814)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            release_all(zone);
            let (token, cursor) = (token(0), Cursor::new());
            assert_eq!(zone.take(&token, &cursor, order(1)), Some(Pfn(0x1000)));
            assert_eq!(zone.take(&token, &cursor, order(2)), Some(Pfn(0x1004)));
            while zone.take(&token, &cursor, Order::HUGE).is_some() {}
            // What is left of the block that was begun, then the pieces.
            for _ in 0..(512 - 8) / 4 {
                assert!(zone.take(&token, &cursor, order(2)).is_some_and(|at| at < Pfn(0x1200)));
            }
            assert_eq!(zone.take(&token, &cursor, order(2)), Some(Pfn(0x2804)));
            assert_eq!(zone.take(&token, &cursor, order(2)), Some(Pfn(0x2810)));
            assert_eq!(zone.take(&token, &cursor, order(2)), None);
            assert_eq!(zone.take(&token, &cursor, order(1)), Some(Pfn(0x1002)));
            assert!(zone.contains(Pfn(0x2813)) && !zone.contains(Pfn(0x2814)));
            assert!(!zone.is_free(&token, Pfn(0x1001)) && !zone.is_free(&token, Pfn(0x2810)));
            assert!(zone.is_managed(&token, Pfn(0x2810)));
            assert_eq!(zone.free(), 0);
        });
    });
}

// Two CPUs work in regions of their own as long as there are some, and then in the other's.
#[test]
fn cpus_keep_apart_while_there_is_room() {
    with_map(&[(0, 0x10000, 0x18000)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            release_all(zone);
            let (one, other) = (Cursor::new(), Cursor::new());
            for at in 0..100 {
                let mine = zone.take(&token(0), &one, Order::ZERO);
                let yours = zone.take(&token(1), &other, Order::ZERO);
                assert_eq!((mine, yours), (Some(Pfn(0x10000 + at)), Some(Pfn(0x14000 + at))));
            }
            for at in 100..0x4000 {
                assert_eq!(zone.take(&token(0), &one, Order::ZERO), Some(Pfn(0x10000 + at)));
            }
            assert_eq!(zone.take(&token(0), &one, Order::ZERO), Some(Pfn(0x14064)));
            assert_eq!(zone.take(&token(1), &other, Order::ZERO), Some(Pfn(0x14065)));
        });
    });
}

// Decision 5: nothing is written before it is used.
#[test]
fn metadata_is_written_on_first_use() {
    with_map(&[(0, 0x10000, 0x100000)], |map| {
        let id = zone_id(0, ZoneKind::Dma32);
        let bytes = Zone::metadata_bytes(map, id, 0);
        let ram = Ram::new(bytes);
        // SAFETY: the memory is the zone's alone, and lives longer.
        let zone = unsafe { Zone::new(map, id, 0, PhysRange::new(0, bytes), &ram) }.unwrap();
        release_all(&zone);
        assert!(
            ram.garbage() + 4096 >= bytes,
            "{} of {bytes} bytes were not written",
            ram.garbage()
        );
        assert_eq!(blocks(&zone)[10], 0xf0000 >> 10);
        // A region's word and entries, a block's rows.
        let before = ram.garbage();
        assert_eq!(zone.take(&token(0), &Cursor::new(), Order::ZERO), Some(Pfn(0x10000)));
        assert!(before - ram.garbage() <= 64 + 64 + 64);
        assert_eq!(zone.take(&token(0), &Cursor::new(), Order::MAX), Some(Pfn(0x10400)));
        assert!(before - ram.garbage() <= 64 + 64 + 64);
    });
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn hundreds_of_ranges_work() {
    // 700 ranges of 1 to 7 frames, with holes of 1 to 5 between.
    let mut ranges = Vec::new();
    let mut at = 0x1000;
    for number in 0..700 {
        let len = 1 + number % 7;
        ranges.push((0, at, at + len));
        at += len + 1 + number % 5;
    }
    with_map(&ranges, |map| {
        let id = zone_id(0, ZoneKind::Dma32);
        with_zone(map, id, |zone| {
            assert_eq!(zone.ranges().len(), 700);
            release_all(zone);
            let start = blocks(zone);
            let (token, cursor) = (token(0), Cursor::new());
            let mut taken = Vec::new();
            for order in [2, 1, 0].map(order) {
                while let Some(block) = zone.take(&token, &cursor, order) {
                    assert!((0..order.pages()).all(|at| zone.contains(block + at)));
                    taken.push((block, order));
                }
            }
            assert_eq!(zone.free(), 0);
            for (block, order) in taken {
                zone.give(&token, block, order).unwrap();
            }
            assert_eq!(blocks(zone), start);
            assert_eq!(zone.free(), zone.present());
        });
    });
}

// FR-63: more than 20 GiB, several CPUs, frame numbers beyond 32 bits.
#[test]
fn several_cpus_never_get_the_same_frame() {
    const ROUNDS: usize = if cfg!(miri) { 5 } else { 4000 };
    let (start, frames) = if cfg!(miri) { (1 << 33, 4096) } else { (1 << 33, 24 << 18) };
    with_map(&[(0, start, start + frames)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Normal), |zone| {
            release_all(zone);
            let before = blocks(zone);
            let owned: Vec<AtomicBool> = (0..frames).map(|_| AtomicBool::new(false)).collect();
            std::thread::scope(|scope| {
                for cpu in 0..4_u16 {
                    let owned = &owned;
                    scope.spawn(move || work(zone, cpu, ROUNDS, start, owned));
                }
            });
            assert_eq!((zone.free(), blocks(zone)), (frames, before));
        });
    });
}

/// Takes and puts blocks of all orders, and single frames in batches.
fn work(zone: &Zone<'_>, cpu: u16, rounds: usize, start: u64, owned: &[AtomicBool]) {
    let (token, cursor) = (token(cpu), Cursor::new());
    let mark = |block: Pfn, order: Order, now: bool| {
        for frame in block.0..block.0 + order.pages() {
            let before = owned[(frame - start) as usize].swap(now, SeqCst);
            assert_ne!(before, now, "{frame:#x}");
        }
    };
    let mut held = Vec::new();
    for round in 0..rounds {
        let order = order(((round * 7 + usize::from(cpu)) % 11) as u8);
        if let Some(block) = zone.take(&token, &cursor, order) {
            mark(block, order, true);
            held.push((block, order));
        }
        if held.len() > 8 {
            let (block, order) = held.swap_remove(round % held.len());
            mark(block, order, false);
            zone.give(&token, block, order).unwrap();
        }
        let mut batch = RowBatch::new();
        zone.take_batch(&token, &cursor, 31, &mut batch);
        let batch: Vec<Pfn> = batch.iter().collect();
        for used in [true, false] {
            batch.iter().for_each(|&frame| mark(frame, Order::ZERO, used));
        }
        assert_eq!(zone.give_batch(&token, &batch), None);
    }
    for (block, order) in held {
        mark(block, order, false);
        zone.give(&token, block, order).unwrap();
    }
}

#[test]
fn marks_protection_and_leaks_are_kept() {
    with_map(&[(0, 0x1000, 0x2000)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            let marks = Watermarks { min: 1, low: 2, high: 3 };
            zone.set_watermarks(marks);
            zone.set_protection(ZoneKind::Normal, 99);
            zone.count_leaked(8);
            zone.count_leaked(1);
            assert_eq!(zone.watermarks(), marks);
            assert_eq!(zone.protection(ZoneKind::Normal), 99);
            assert_eq!(zone.protection(ZoneKind::Dma32), 0);
            assert_eq!(zone.leaked(), 9);
        });
    });
}

#[test]
fn a_zone_without_frames_needs_no_metadata() {
    with_map(&[(0, 0x1000, 0x100000)], |map| {
        assert_eq!(Zone::metadata_bytes(map, zone_id(0, ZoneKind::Normal), 0), 0);
    });
}
