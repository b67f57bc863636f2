//! Blocks larger than a row, which are claimed row by row.

use nearmem::Order;
use nearmem::sync::Ordering::{AcqRel, Relaxed};

use crate::block::{Place, take_one, two};

const TWO_ROWS: Order = Order::new(7).unwrap();
const FOUR_ROWS: Order = Order::new(8).unwrap();

/// Takes a block and, when there was one, uses it and gives it back.
fn take_and_put(place: &Place, order: Order) {
    if let Some(first) = place.block().take(order) {
        place.use_frames(first, order.pages() as u32);
        place.block().put(first, order.pages() as u16).unwrap();
    }
}

/// Two rows against a single frame of the second one: one of them wins, and nothing is lost.
#[test]
fn two_rows_and_a_single_frame() {
    let place = || Place::with_free([128, 192, 255, 0], &[(128, 128)]);
    let rows = |place: &Place| take_and_put(place, TWO_ROWS);
    let frame = |place: &Place| {
        // What the other has promised itself may come back.
        let frame = take_one(place);
        place.block().put(frame, 1).unwrap();
    };
    two(3, place, rows, frame, |place| place.check(128));
}

/// Four rows against two of them.
#[test]
fn four_rows_and_two_of_them() {
    let place = || Place::with_free([0, 64, 128, 255], &[(0, 256)]);
    let four = |place: &Place| take_and_put(place, FOUR_ROWS);
    let pair = |place: &Place| take_and_put(place, TWO_ROWS);
    two(2, place, four, pair, |place| place.check(256));
}

/// A run within a row against a single frame of it.
#[test]
fn a_run_and_a_single_frame() {
    let place = || Place::with_free([8, 9, 10, 11], &[(8, 4)]);
    let run = |place: &Place| take_and_put(place, Order::new(2).unwrap());
    let frame = |place: &Place| {
        let frame = take_one(place);
        place.block().put(frame, 1).unwrap();
    };
    two(3, place, run, frame, |place| place.check(4));
}

/// The wrong variant, as a published allocator has it: when the second row fails the first one is
/// given back, and success is reported all the same. The frame is handed out twice; the model says
/// so.
#[test]
#[should_panic]
fn a_claim_that_fails_half_way_and_reports_success() {
    let place = || Place::with_free([0, 64, 0, 0], &[(0, 128)]);
    let wrong = |place: &Place| {
        let claim = |row: usize| place.rows[row].compare_exchange(u64::MAX, 0, AcqRel, Relaxed);
        if claim(0).is_err() {
            return;
        }
        if claim(1).is_err() {
            place.rows[0].store(u64::MAX, Relaxed);
        }
        place.use_frames(0, 128);
    };
    let frame = |place: &Place| {
        let first = take_one(place);
        assert!(first < 128);
    };
    two(3, place, wrong, frame, |_| ());
}
