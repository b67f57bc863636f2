//! What every implementation of `FreeFrames` must do, with the model among them.

use nearmem::zone::{FreeError, FreeMap, LockedBuddy};
use nearmem::{Order, Pfn, PfnRange};

use crate::memory::{Structure, with};
use crate::model::Model;

pub struct OfFreeMap;
pub struct OfBuddy;
pub struct OfModel;

impl<'m> Structure<'m> for OfFreeMap {
    type Is = FreeMap<'m>;
}

impl<'m> Structure<'m> for OfBuddy {
    type Is = LockedBuddy<'m>;
}

impl<'m> Structure<'m> for OfModel {
    type Is = Model;
}

pub fn order(order: u8) -> Order {
    Order::new(order).unwrap()
}

fn nothing_is_free_at_first<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(0x103, 0x1903);
    with::<F, _>(frames, |structure| {
        assert_eq!(structure.free(), 0);
        assert!(Order::all().all(|order| structure.take(order).is_none()));
        assert!((0..0x2000).all(|frame| !structure.is_free(Pfn(frame))));
    });
}

// FR-58: two blocks of the top order stay two.
fn the_top_order_does_not_merge<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(2048, 4096);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        assert_eq!(structure.profile()[10], 2);
        let taken: Vec<Pfn> = std::iter::from_fn(|| structure.take(Order::ZERO)).collect();
        assert_eq!(taken, (2048..4096).map(Pfn).collect::<Vec<_>>());
        assert_eq!(structure.free(), 0);
        for &frame in taken.iter().rev() {
            structure.put(frame, Order::ZERO).unwrap();
        }
        assert_eq!(structure.profile(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    });
}

fn a_split_keeps_the_lower_half<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(1024, 2048);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        assert_eq!(structure.take(order(3)), Some(Pfn(1024)));
        assert_eq!(structure.profile(), [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0]);
        assert_eq!(structure.take(order(0)), Some(Pfn(1032)));
        assert_eq!(structure.take(order(9)), Some(Pfn(1536)));
        assert_eq!(structure.take(order(10)), None);
        assert_eq!(structure.free(), 1024 - 8 - 1 - 512);
    });
}

fn a_range_may_begin_and_end_anywhere<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(1023, 2050);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        assert_eq!(structure.profile(), [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(structure.take(Order::MAX), Some(Pfn(1024)));
        assert_eq!(structure.take(Order::ZERO), Some(Pfn(1023)));
        assert_eq!(structure.take(order(1)), Some(Pfn(2048)));
        assert_eq!(structure.free(), 0);
    });
}

fn frames_of_high_addresses_are_exact<F: for<'m> Structure<'m>>() {
    // Just below 2^52 bytes: frame numbers need 40 bits.
    let frames = PfnRange::new((1 << 40) - 1500, 1 << 40);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        assert_eq!(structure.take(Order::MAX), Some(Pfn((1 << 40) - 1024)));
        assert_eq!(
            structure.put(Pfn(1 << 40), Order::ZERO),
            Err(FreeError::OutOfRange { pfn: Pfn(1 << 40) })
        );
        assert_eq!(
            structure.put(Pfn(u64::MAX), Order::ZERO),
            Err(FreeError::OutOfRange { pfn: Pfn(u64::MAX) })
        );
    });
}

// FR-59, FR-65: every misuse is named and changes nothing.
fn misuse_is_named_and_changes_nothing<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(1000, 3000);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        let block = structure.take(order(3)).unwrap();
        assert_eq!(block, Pfn(1000));
        structure.put(Pfn(1004), order(1)).unwrap();
        let before = structure.profile();
        for (pfn, at, error) in [
            (0, 0, FreeError::OutOfRange { pfn: Pfn(0) }),
            (999, 0, FreeError::OutOfRange { pfn: Pfn(999) }),
            (3000, 0, FreeError::OutOfRange { pfn: Pfn(3000) }),
            // It begins inside and ends outside.
            (2560, 9, FreeError::OutOfRange { pfn: Pfn(3000) }),
            (1001, 1, FreeError::Misaligned { pfn: Pfn(1001), order: order(1) }),
            // Double free at order 3 of a half-freed block: the free part is deeper down.
            (1000, 3, FreeError::AlreadyFree { pfn: Pfn(1004) }),
            (1004, 1, FreeError::AlreadyFree { pfn: Pfn(1004) }),
            (1005, 0, FreeError::AlreadyFree { pfn: Pfn(1005) }),
            // A small part of a large free block.
            (2047, 0, FreeError::AlreadyFree { pfn: Pfn(2047) }),
            (1024, 9, FreeError::AlreadyFree { pfn: Pfn(1024) }),
        ] {
            assert_eq!(structure.put(Pfn(pfn), order(at)), Err(error), "{pfn} order {at}");
            assert_eq!(structure.profile(), before);
        }
        structure.put(Pfn(1000), order(2)).unwrap();
        structure.put(Pfn(1006), order(1)).unwrap();
        assert_eq!(structure.free(), 2000);
    });
}

fn one_free_frame_anywhere_in_a_block_is_found<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(2048, 3072);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        while structure.take(Order::ZERO).is_some() {}
        for at in [0, 1, 62, 63, 64, 511, 1023] {
            let free = Pfn(2048 + at);
            structure.put(free, Order::ZERO).unwrap();
            for order in Order::all() {
                let block = Pfn(free.0 >> order.get() << order.get());
                let error = structure.put(block, order);
                assert_eq!(error, Err(FreeError::AlreadyFree { pfn: free }), "{order:?}");
            }
            assert_eq!(structure.take(Order::ZERO), Some(free));
        }
    });
}

fn a_block_that_ends_one_frame_too_far_is_refused<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(1024, 2047);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        while structure.take(Order::ZERO).is_some() {}
        let error = structure.put(Pfn(1536), Order::HUGE);
        assert_eq!(error, Err(FreeError::OutOfRange { pfn: Pfn(2047) }));
        assert_eq!(structure.put(Pfn(2044), order(1)), Ok(()));
        assert_eq!(structure.put(Pfn(2046), Order::ZERO), Ok(()));
        assert_eq!(structure.free(), 3);
    });
}

fn a_range_of_one_frame_works<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(77, 78);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        assert!(structure.is_free(Pfn(77)));
        assert_eq!(structure.take(order(1)), None);
        assert_eq!(structure.take(Order::ZERO), Some(Pfn(77)));
        assert_eq!(structure.take(Order::ZERO), None);
    });
}

fn a_batch_takes_all_that_is_there<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(2000, 2700);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        let mut into = [Pfn(0); 700];
        assert_eq!(structure.take_batch(&mut into[..65]), 65);
        assert_eq!(structure.take_batch(&mut into[65..]), 635);
        into.sort();
        assert!(into.into_iter().eq((2000..2700).map(Pfn)));
        assert_eq!((structure.free(), structure.take_batch(&mut [Pfn(0)])), (0, 0));
    });
}

fn frames_of_a_batch_come_back_in_any_order<F: for<'m> Structure<'m>>() {
    let frames = PfnRange::new(2048, 3072);
    with::<F, _>(frames, |structure| {
        structure.release(frames).unwrap();
        let mut taken: Vec<Pfn> = std::iter::from_fn(|| structure.take(Order::ZERO)).collect();
        // 383 and 1024 have no common divisor, so this is every frame once.
        taken.sort_by_key(|frame| frame.0 * 383 % 1024);
        for batch in taken.chunks(37) {
            assert_eq!(structure.put_batch(batch), None);
        }
        assert_eq!(structure.profile(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    });
}

macro_rules! suite {
    ($($test:ident),* $(,)?) => {
        mod free_map {
            $(#[test] fn $test() { super::$test::<super::OfFreeMap>() })*
        }
        mod buddy {
            $(#[test] fn $test() { super::$test::<super::OfBuddy>() })*
        }
        mod model {
            $(
                #[test]
                #[cfg_attr(miri, ignore = "too slow")]
                fn $test() { super::$test::<super::OfModel>() }
            )*
        }
    };
}

suite!(
    a_batch_takes_all_that_is_there,
    frames_of_a_batch_come_back_in_any_order,
    nothing_is_free_at_first,
    the_top_order_does_not_merge,
    a_split_keeps_the_lower_half,
    a_range_may_begin_and_end_anywhere,
    frames_of_high_addresses_are_exact,
    misuse_is_named_and_changes_nothing,
    one_free_frame_anywhere_in_a_block_is_found,
    a_block_that_ends_one_frame_too_far_is_refused,
    a_range_of_one_frame_works,
);
