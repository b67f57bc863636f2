//! What a zone refuses: each misuse by its name, and the zone stays as it was (FR-59, FR-65).

use nearmem::zone::{Cursor, FreeError, ReleaseError, RowBatch, Zone, ZoneKind};
use nearmem::{Order, Pfn, PfnRange};

use crate::machine::{RESERVED, RawZone as _, token, with_map, with_zone, zone_id};
use crate::suite::order;

/// Frames 0x1000..0x2000 with 0x1800..0x1810 reserved, a hole, and frames 0x3000..0x3100.
fn with_two_ranges(test: impl FnOnce(&Zone<'_>)) {
    with_map(&[(0, 0x1000, 0x2000), (0, 0x3000, 0x3100), (1, 0x2800, 0x2900)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            for (start, end) in [(0x1000, 0x1800), (0x1810, 0x2000), (0x3000, 0x3100)] {
                zone.open(&token(0), PfnRange::new(start, end)).unwrap();
            }
            test(zone);
        });
    });
}

/// All that can be seen of a zone.
fn picture(zone: &Zone<'_>) -> (u64, u64, Vec<u64>) {
    (zone.managed(), zone.free(), zone.block_counts(&token(0)).to_vec())
}

#[test]
fn a_bad_free_is_named_and_changes_nothing() {
    with_two_ranges(|zone| {
        let (token, cursor) = (token(0), Cursor::new());
        let block = zone.take(&token, &cursor, order(3)).unwrap();
        zone.give(&token, block + 4, order(1)).unwrap();
        let before = picture(zone);
        let pfn = Pfn;
        for (at, of, error) in [
            (0, 0, FreeError::OutOfRange { pfn: pfn(0) }),
            (0x3100, 0, FreeError::OutOfRange { pfn: pfn(0x3100) }),
            (u64::MAX, 0, FreeError::OutOfRange { pfn: pfn(u64::MAX) }),
            // Bit 52: its address would not fit 64 bits.
            ((1 << 52) + 0x1000, 0, FreeError::OutOfRange { pfn: pfn((1 << 52) + 0x1000) }),
            (0x3000, 9, FreeError::OutOfRange { pfn: pfn(0x3100) }),
            (0x2000, 0, FreeError::Hole { pfn: pfn(0x2000) }),
            // Another node's frame, in the span of this zone.
            (0x2800, 3, FreeError::Hole { pfn: pfn(0x2800) }),
            (0x1800, 0, FreeError::Reserved { pfn: pfn(0x1800) }),
            (0x1800, 9, FreeError::Reserved { pfn: pfn(0x1800) }),
            (0x1001, 2, FreeError::Misaligned { pfn: pfn(0x1001), order: order(2) }),
            (block.0, 3, FreeError::AlreadyFree { pfn: block + 4 }),
            (block.0 + 5, 0, FreeError::AlreadyFree { pfn: block + 5 }),
            (0x1c00, 10, FreeError::AlreadyFree { pfn: pfn(0x1c00) }),
            (0x1c23, 0, FreeError::AlreadyFree { pfn: pfn(0x1c23) }),
        ] {
            assert_eq!(zone.give(&token, pfn(at), order(of)), Err(error), "{at:#x} order {of}");
            assert_eq!(picture(zone), before, "{at:#x} order {of}");
        }
    });
}

#[test]
fn a_block_that_runs_into_a_reserved_range_is_refused() {
    with_map(&[(0, 0x1000, 0x2000)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            zone.open(&token(0), PfnRange::new(0x1000, 0x1003)).unwrap();
            let cursor = Cursor::new();
            while zone.take(&token(0), &cursor, Order::ZERO).is_some() {}
            assert_eq!(
                zone.give(&token(0), Pfn(0x1000), order(2)),
                Err(FreeError::Reserved { pfn: Pfn(0x1003) })
            );
            assert_eq!(zone.free(), 0);
        });
    });
}

#[test]
fn a_bad_batch_puts_back_what_is_good() {
    with_two_ranges(|zone| {
        let (token, cursor) = (token(0), Cursor::new());
        let mut taken = RowBatch::new();
        assert_eq!(zone.take_batch(&token, &cursor, 8, &mut taken), 8);
        let free = zone.free();
        let mut frames: Vec<Pfn> = taken.iter().collect();
        let twice = frames[2];
        frames[3] = twice;
        frames[5] = Pfn(0x2001);
        let error = zone.give_batch(&token, &frames);
        assert_eq!(error, Some(FreeError::AlreadyFree { pfn: twice }));
        assert_eq!(zone.free(), free + 6);
    });
}

#[test]
fn a_bad_release_is_named_and_changes_nothing() {
    with_two_ranges(|zone| {
        let before = picture(zone);
        for (start, end, error) in [
            (0, 0x10, ReleaseError::OutOfRange { pfn: Pfn(0) }),
            (0x3000, 0x3200, ReleaseError::OutOfRange { pfn: Pfn(0x31ff) }),
            (0x2000, 0x2010, ReleaseError::Hole { pfn: Pfn(0x2000) }),
            (0x1ff0, 0x2010, ReleaseError::Hole { pfn: Pfn(0x2000) }),
            (0x1ff0, 0x3010, ReleaseError::Hole { pfn: Pfn(0x2000) }),
            (0x1000, 0x1001, ReleaseError::Managed { pfn: Pfn(0x1000) }),
            (0x17ff, 0x1801, ReleaseError::Managed { pfn: Pfn(0x17ff) }),
            (0x1800, 0x1811, ReleaseError::Managed { pfn: Pfn(0x1810) }),
        ] {
            let frames = PfnRange::new(start, end);
            assert_eq!(zone.open(&token(0), frames), Err(error), "{frames:?}");
            assert_eq!(picture(zone), before, "{frames:?}");
        }
        zone.open(&token(0), PfnRange::new(0x1800, 0x1800)).unwrap();
        assert_eq!(picture(zone), before);
        zone.open(&token(0), PfnRange::new(0x1800, 0x1810)).unwrap();
        assert_eq!(zone.free(), zone.present());
        assert_eq!(zone.blocks(&token(0), Order::MAX), 4);
    });
}

// FR-74.
#[test]
fn frame_0_is_never_taken_over() {
    with_map(&[(0, 0, 0x1000)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma), |zone| {
            let all = PfnRange::new(0, 0x1000);
            let error = ReleaseError::OutOfRange { pfn: Pfn(0) };
            assert_eq!(zone.open(&token(0), all), Err(error));
            zone.open(&token(0), PfnRange::new(1, 0x1000)).unwrap();
            assert_eq!(zone.take(&token(0), &Cursor::new(), Order::ZERO), Some(Pfn(1)));
        });
    });
}

#[test]
fn more_reserved_ranges_than_there_is_room_for_are_an_error() {
    with_map(&[(0, 0x1000, 0x2000)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            // Every other frame: each is a range of its own.
            let room = RESERVED + 1;
            for at in 0..room {
                let start = 0x1000 + 2 * at;
                zone.open(&token(0), PfnRange::new(start, start + 1)).unwrap();
            }
            let start = 0x1000 + 2 * room;
            let one_more = PfnRange::new(start, start + 1);
            assert_eq!(zone.open(&token(0), one_more), Err(ReleaseError::TooManyRanges));
            assert_eq!((zone.managed(), zone.free()), (room, room));
            // What joins two ranges makes room.
            zone.open(&token(0), PfnRange::new(0x1001, 0x1002)).unwrap();
            zone.open(&token(0), one_more).unwrap();
        });
    });
}
