//! Contiguous frames of any number, and zones that shrink and grow.

use nearmem::zone::{Cursor, FreeError, ShrinkError, Zone, ZoneKind};
use nearmem::{Order, Pfn, PfnRange};
use proptest::prelude::*;

use crate::machine::{RESERVED, RawZone as _, release_all, token, with_map, with_zone, zone_id};
use crate::suite::order;

const ALL: PfnRange = PfnRange::new(0, 1 << 52);

/// Three regions and a bit, the edges not aligned, all free.
fn with_frames(test: impl FnOnce(&Zone<'_>)) {
    with_map(&[(0, 0x10003, 0x1d005)], |map| {
        with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
            release_all(zone);
            test(zone);
            // Whatever it was, it is all back.
            assert_eq!(zone.free(), zone.managed());
            let blocks = zone.block_counts(&token(0));
            let sum: u64 = Order::all().zip(blocks).map(|(order, n)| n << order.get()).sum();
            assert_eq!(sum, zone.free());
        });
    });
}

fn put(zone: &Zone<'_>, start: u64, end: u64) -> Result<(), FreeError> {
    // SAFETY: nothing but the zone knows the frames.
    unsafe { zone.put_range(&token(0), PfnRange::new(start, end)) }
}

#[test]
fn any_number_of_frames_is_taken_and_freed_in_parts() {
    with_frames(|zone| {
        let token = token(0);
        for frames in [1, 63, 65, 500, 513, 1024, 1537, 20_000] {
            let first = zone.take_contiguous(&token, frames, 1, ALL).unwrap();
            assert_eq!(first, Pfn(0x10003), "{frames}");
            assert_eq!(zone.free(), zone.managed() - frames);
            let middle = first.0 + frames / 3;
            put(zone, middle, first.0 + frames).unwrap();
            let twice = put(zone, first.0, first.0 + frames);
            assert_eq!(twice, Err(FreeError::AlreadyFree { pfn: Pfn(middle) }));
            put(zone, first.0, middle).unwrap();
        }
        assert_eq!(zone.take_contiguous(&token, 0, 1, ALL), None);
        assert_eq!(zone.take_contiguous(&token, 1, 3, ALL), None);
        assert_eq!(zone.take_contiguous(&token, 0xd003, 1, ALL), None);
    });
}

#[test]
fn alignment_and_limits_are_kept() {
    with_frames(|zone| {
        let token = token(0);
        let first = zone.take_contiguous(&token, 700, 64, ALL).unwrap();
        assert_eq!(first, Pfn(0x10040));
        // Above a frame number, and in a region that was never used.
        let high = zone.take_contiguous(&token, 100, 1, PfnRange::new(0x18001, 0x18065)).unwrap();
        assert_eq!(high, Pfn(0x18001));
        assert_eq!(zone.take_contiguous(&token, 100, 1, PfnRange::new(0x18001, 0x18065)), None);
        // What is taken is stepped over.
        let next = zone.take_contiguous(&token, 700, 1, ALL).unwrap();
        assert_eq!(next, first + 700);
        for (first, frames) in [(first, 700), (high, 100), (next, 700)] {
            put(zone, first.0, first.0 + frames).unwrap();
        }
    });
}

#[test]
fn a_block_of_an_order_is_freed_as_a_range_and_the_other_way_round() {
    with_frames(|zone| {
        let (token, cursor) = (token(0), Cursor::new());
        let block = zone.take(&token, &cursor, Order::MAX).unwrap();
        put(zone, block.0, block.0 + 1000).unwrap();
        put(zone, block.0 + 1000, block.0 + 1024).unwrap();
        let first = zone.take_contiguous(&token, 2048, 1024, ALL).unwrap();
        zone.give(&token, first, Order::MAX).unwrap();
        zone.give(&token, first + 1024, Order::HUGE).unwrap();
        zone.give(&token, first + 1536, order(8)).unwrap();
        zone.give(&token, first + 1792, order(8)).unwrap();
    });
}

#[test]
fn a_zone_shrinks_by_what_is_free_and_grows_again() {
    with_frames(|zone| {
        let (token, cursor) = (token(0), Cursor::new());
        // Region 0 is in use, the others were never.
        let frame = zone.take(&token, &cursor, Order::ZERO).unwrap();
        let managed = zone.managed();
        for range in [
            PfnRange::new(0x10200, 0x10400),
            PfnRange::new(0x10411, 0x10a00),
            PfnRange::new(0x13fff, 0x14001),
            PfnRange::new(0x19000, 0x1d005),
        ] {
            zone.shrink(&token, range).unwrap();
            assert_eq!(zone.managed(), managed - range.len());
            for pfn in [range.start, Pfn(range.end.0 - 1)] {
                assert!(!zone.is_managed(&token, pfn) && !zone.is_free(&token, pfn));
                let reserved = Err(FreeError::Reserved { pfn });
                assert_eq!(zone.give(&token, pfn, Order::ZERO), reserved);
                assert_eq!(zone.give_batch(&token, &[pfn]), reserved.err());
            }
            let not_managed = FreeError::Reserved { pfn: range.start };
            let again = zone.shrink(&token, range);
            assert_eq!(again, Err(ShrinkError::NotManaged(not_managed)));
            let mut taken = Vec::new();
            while let Some(frame) = zone.take(&token, &cursor, Order::ZERO) {
                assert!(!range.contains(frame));
                taken.push(frame);
            }
            assert_eq!(taken.len() as u64, managed - range.len() - 1);
            assert_eq!(zone.give_batch(&token, &taken), None);
            zone.open(&token, range).unwrap();
            assert_eq!((zone.managed(), zone.free()), (managed, managed - 1));
        }
        zone.give(&token, frame, Order::ZERO).unwrap();
    });
}

#[test]
fn a_zone_does_not_shrink_by_what_is_in_use() {
    with_frames(|zone| {
        let (token, cursor) = (token(0), Cursor::new());
        let taken = zone.take_contiguous(&token, 1, 1, PfnRange::new(0x10923, 0x10924)).unwrap();
        let huge = zone.take(&token, &cursor, Order::HUGE).unwrap();
        let before = (zone.managed(), zone.free(), zone.block_counts(&token));
        for (start, end, error) in [
            (0x10800, 0x10a00, ShrinkError::InUse { pfn: taken }),
            (0x10600, 0x19000, ShrinkError::InUse { pfn: taken }),
            (huge.0, huge.0 + 512, ShrinkError::InUse { pfn: huge }),
            (huge.0 + 7, huge.0 + 9, ShrinkError::InUse { pfn: huge + 7 }),
            (
                0x1d000,
                0x1d006,
                ShrinkError::NotManaged(FreeError::OutOfRange { pfn: Pfn(0x1d005) }),
            ),
        ] {
            let range = PfnRange::new(start, end);
            assert_eq!(zone.shrink(&token, range), Err(error), "{range:?}");
            assert_eq!((zone.managed(), zone.free(), zone.block_counts(&token)), before);
        }
        zone.shrink(&token, PfnRange::new(0x1d000, 0x1d000)).unwrap();
        zone.give(&token, taken, Order::ZERO).unwrap();
        zone.give(&token, huge, Order::HUGE).unwrap();
    });
}

#[test]
fn a_zone_that_would_fall_into_too_many_parts_stays() {
    with_frames(|zone| {
        let part = |at: u64| PfnRange::new(0x10400 + 2 * at, 0x10400 + 2 * at + 1);
        for at in 0..RESERVED {
            zone.shrink(&token(0), part(at)).unwrap();
        }
        let (free, error) = (zone.free(), ShrinkError::TooManyRanges);
        assert_eq!(zone.shrink(&token(0), part(RESERVED)), Err(error));
        assert_eq!(zone.free(), free);
    });
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Contiguous(u64, u64),
    Take(Order),
    Put(usize, u64, u64),
    Shrink(u64, u64),
    Grow(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(
        prop_oneof![
            3 => (1..3000_u64, 0..11_u64).prop_map(|(n, align)| Step::Contiguous(n, 1 << align)),
            2 => (0..11_u8).prop_map(|order| Step::Take(Order::new(order).unwrap())),
            4 => (any::<usize>(), 0..3000_u64, 1..3000_u64)
                .prop_map(|(which, skip, n)| Step::Put(which, skip, n)),
            2 => (0..0xd000_u64, 1..2000_u64).prop_map(|(at, n)| Step::Shrink(at, n)),
            1 => any::<usize>().prop_map(Step::Grow),
        ],
        1..60,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 64 }, max_shrink_iters: 400, ..Default::default() })]

    /// No frame has two owners, and the sums are right after every step. Frames are the zone's, one
    /// of ours, or reserved.
    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn ranges_come_and_go(steps in steps()) {
        with_map(&[(0, 0x10003, 0x1d005)], |map| {
            with_zone(map, zone_id(0, ZoneKind::Dma32), |zone| {
                release_all(zone);
                ranges_of(zone, &steps)
            })
        })?;
    }
}

fn ranges_of(zone: &Zone<'_>, steps: &[Step]) -> Result<(), TestCaseError> {
    let (token, cursor) = (token(0), Cursor::new());
    let mut ours: Vec<PfnRange> = Vec::new();
    let mut reserved: Vec<PfnRange> = Vec::new();
    let apart = |range: PfnRange, others: &[&[PfnRange]]| {
        others.iter().flat_map(|list| list.iter()).all(|other| other.intersect(range).is_empty())
    };
    for &step in steps {
        match step {
            Step::Contiguous(frames, align) => {
                let Some(first) = zone.take_contiguous(&token, frames, align, ALL) else {
                    continue;
                };
                let range = PfnRange { start: first, end: first + frames };
                prop_assert!(first.0 % align == 0 && apart(range, &[&ours, &reserved]));
                ours.push(range);
            }
            Step::Take(order) => {
                let Some(first) = zone.take(&token, &cursor, order) else { continue };
                let range = PfnRange { start: first, end: first + order.pages() };
                prop_assert!(apart(range, &[&ours, &reserved]));
                ours.push(range);
            }
            Step::Put(which, skip, frames) => {
                let Some(at) = which.checked_rem(ours.len()) else { continue };
                let range = ours.swap_remove(at);
                let start = range.start + skip % range.len();
                let end = (start + frames).min(range.end);
                prop_assert_eq!(put(zone, start.0, end.0), Ok(()));
                prop_assert!(put(zone, start.0, end.0).is_err());
                ours.extend(
                    [PfnRange { start: range.start, end: start }, PfnRange { start: end, ..range }]
                        .into_iter()
                        .filter(|rest| !rest.is_empty()),
                );
            }
            Step::Shrink(at, frames) => {
                let range = PfnRange::new(0x10003 + at, (0x10003 + at + frames).min(0x1d005));
                let free = apart(range, &[&ours, &reserved]);
                prop_assert_eq!(zone.shrink(&token, range).is_ok(), free);
                if free {
                    reserved.push(range);
                }
            }
            Step::Grow(which) => {
                let Some(at) = which.checked_rem(reserved.len()) else { continue };
                prop_assert_eq!(zone.open(&token, reserved.swap_remove(at)), Ok(()));
            }
        }
        let sum = |list: &[PfnRange]| list.iter().map(|range| range.len()).sum::<u64>();
        prop_assert_eq!(zone.managed() + sum(&reserved), zone.present());
        prop_assert_eq!(zone.free() + sum(&ours), zone.managed());
    }
    for range in ours {
        prop_assert_eq!(put(zone, range.start.0, range.end.0), Ok(()));
    }
    let blocks = zone.block_counts(&token);
    let sum: u64 = Order::all().zip(blocks).map(|(order, count)| count << order.get()).sum();
    prop_assert_eq!((sum, zone.free()), (zone.managed(), zone.managed()));
    Ok(())
}
