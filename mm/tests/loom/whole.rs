//! Whole blocks: their first split, their taking, and parts that come back.

use nearmem::Order;

use crate::block::{Place, take_one, two};

/// Two CPUs split a block whose rows were never written: one writes them.
#[test]
fn the_first_split_is_done_by_one() {
    let place = || Place::new([0, 1, 2, 3]);
    let take = |place: &Place| {
        take_one(place);
    };
    two(3, place, take, take, |place| place.check(510));
}

/// A split against the taking of the whole block: one of them wins.
#[test]
fn a_split_and_a_taker_of_the_whole() {
    let place = || Place::new([0, 1, 2, 3]);
    let split = |place: &Place| {
        if let Some(frame) = place.block().take(Order::ZERO) {
            place.use_frames(frame, 1);
            place.block().put(frame, 1).unwrap();
        }
    };
    let whole = |place: &Place| {
        if place.block().take_whole() {
            place.use_frames(0, 512);
            place.block().put(0, 512).unwrap();
        }
    };
    two(3, place, split, whole, |place| place.check(512));
}

/// Halves of a block that was taken whole come back on two CPUs at once: one of them writes the
/// rows, and in the end the block is whole again.
#[test]
fn two_cpus_free_parts_of_a_taken_block() {
    let place = || {
        let place = Place::new([0, 255, 256, 511]);
        assert!(place.block().take_whole());
        place.use_frames(0, 512);
        place
    };
    let lower = |place: &Place| {
        place.use_frames(0, 64);
        place.block().put(0, 64).unwrap();
    };
    let upper = |place: &Place| {
        place.use_frames(256, 64);
        place.block().put(256, 64).unwrap();
    };
    two(3, place, lower, upper, |place| place.check(128));
}

/// The last frames come back and make a block whole, which another CPU takes at once: what was
/// written to them is seen.
#[test]
fn the_last_free_and_a_taker_of_the_whole() {
    let place = || Place::with_free([0, 1, 2, 511], &[(0, 256), (256, 128), (384, 64), (448, 63)]);
    let give = |place: &Place| {
        place.use_frames(511, 1);
        place.block().put(511, 1).unwrap();
    };
    let take = |place: &Place| {
        if place.block().take_whole() {
            place.use_frames(0, 512);
            place.block().put(0, 512).unwrap();
        }
    };
    two(3, place, give, take, |place| place.check(512));
}

/// A free that makes a block whole against a taker of one frame: the region's number of whole
/// blocks is right afterwards, whoever was first.
#[test]
fn a_block_that_is_whole_for_a_moment() {
    let place = || Place::with_free([0, 1, 2, 511], &[(0, 256), (256, 128), (384, 64), (448, 63)]);
    let give = |place: &Place| {
        place.use_frames(511, 1);
        place.block().put(511, 1).unwrap();
    };
    let take = |place: &Place| {
        take_one(place);
    };
    two(3, place, give, take, |place| place.check(511));
}
