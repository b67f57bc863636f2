//! The stack against a model.

use super::*;
use crate::sim::SimMachine;
use std::collections::VecDeque;
use std::vec::Vec;

const INDEX: u16 = 5;

/// Calls `test` with an empty pageset of zone 5.
fn with_pageset<R>(batch: u32, high: u64, test: impl FnOnce(&Pageset<'_>) -> R) -> R {
    let machine = SimMachine::builder().node(1 << 20, 1).build();
    let map = machine.map();
    let mm = machine.start(&map, Default::default());
    let sizes = PagesetSizes { batch, high };
    test(&Pageset::new(mm.zones()[0], INDEX, Pfn(7), Pfn(0x1000), sizes))
}

fn word(frame: u64) -> BlockWord {
    BlockWord::new(INDEX, Order::ZERO, Pfn(frame))
}

/// As whoever allocates does.
fn pop(set: &Pageset<'_>) -> Option<u64> {
    let word = set.pop().or_else(|| if set.find_top() { set.pop() } else { None })?;
    assert_eq!((word.zone(), word.order()), (INDEX, Order::ZERO));
    Some(word.pfn().0)
}

/// As whoever frees does.
fn push(set: &Pageset<'_>, frame: u64) -> Result<(), Refused> {
    match set.push(word(frame)) {
        Err(Refused::Full) if set.find_room() => set.push(word(frame)),
        other => other,
    }
}

#[test]
fn the_last_frame_in_is_the_first_out() {
    with_pageset(1, 10, |set| {
        for frame in [0x1005, 0x1001, 0x1fff] {
            push(set, frame).unwrap();
        }
        assert!(set.holds(Pfn(0x1001)) && !set.holds(Pfn(0x1002)) && !set.holds(Pfn(3)));
        assert_eq!(pop(set), Some(0x1fff));
        assert_eq!(pop(set), Some(0x1001));
        assert_eq!(pop(set), Some(0x1005));
        assert_eq!(pop(set), None);
        assert!(!set.holds(Pfn(0x1001)));
    });
}

#[test]
fn it_is_full_one_below_the_limit() {
    for high in [0, 1, 2, 12, 959, 960, 961, 5000] {
        with_pageset(3, high, |set| {
            let most = high.clamp(1, CAPACITY as u64) - 1;
            (0..most).for_each(|frame| push(set, 0x1000 + frame).unwrap());
            assert_eq!(push(set, 0x9000), Err(Refused::Full), "high {high}");
            assert_eq!(u64::from(set.count()), most);
        });
    }
}

#[test]
fn frames_of_another_segment_zone_or_order_are_refused() {
    with_pageset(63, 960, |set| {
        for frame in [0xfff, 0x1000 + (1 << 32)] {
            assert_eq!(push(set, frame), Err(Refused::OtherSegment));
        }
        let other = BlockWord::new(INDEX + 1, Order::ZERO, Pfn(0x1000));
        assert_eq!(set.push(other), Err(Refused::OtherSegment));
        let two = BlockWord::new(INDEX, Order::new(1).unwrap(), Pfn(0x1000));
        assert_eq!(set.push(two), Err(Refused::OtherSegment));
    });
}

#[test]
fn an_empty_stack_moves_to_any_segment_and_a_used_one_does_not() {
    with_pageset(1, 10, |set| {
        let far = 0x1000 + (5 << 32) + 7;
        set.move_to_segment(Pfn(0x1000), Pfn(far));
        push(set, far).unwrap();
        set.move_to_segment(Pfn(0x1000), Pfn(0x1001));
        assert_eq!(push(set, 0x1001), Err(Refused::OtherSegment));
        assert_eq!(pop(set), Some(far));
        set.move_to_segment(Pfn(0x1000), Pfn(0x1001));
        push(set, 0x1001).unwrap();
        assert_eq!(pop(set), Some(0x1001));
    });
}

#[test]
fn a_new_limit_holds_from_the_next_fit_on() {
    with_pageset(3, 12, |set| {
        (0..11).for_each(|frame| push(set, 0x1000 + frame).unwrap());
        set.resize(PagesetSizes { batch: 3, high: 20 });
        push(set, 0x2000).unwrap();
        set.resize(PagesetSizes { batch: 3, high: 8 });
        set.refit();
        assert_eq!(push(set, 0x3000), Err(Refused::Full));
        assert_eq!(set.count(), 12);
        set.resize(PagesetSizes::BOOT);
        set.take_oldest(20, &mut RowBatch::new());
        assert_eq!((set.count(), push(set, 0x3000)), (0, Err(Refused::Full)));
    });
}

/// These frames on their way.
fn batch(frames: impl IntoIterator<Item = u64>) -> RowBatch {
    let mut batch = RowBatch::new();
    frames.into_iter().for_each(|frame| assert!(batch.add(Pfn(frame))));
    batch
}

#[test]
fn what_fills_it_comes_out_in_order_and_ends_with_the_segment() {
    with_pageset(63, 960, |set| {
        let frames = 0x4001..0x4040;
        assert!(set.fill(Pfn(0x1000), &mut batch(frames.clone())));
        assert!(!set.fill(Pfn(0x1000), &mut batch([0x5000])), "it was not empty");
        assert_eq!(set.count(), 63);
        assert!(frames.into_iter().all(|frame| pop(set) == Some(frame)));
        assert_eq!((pop(set), set.count()), (None, 0));

        let next = 0x1000 + (1 << 32);
        let mut two = batch([next - 2, next - 1, next, 0x3000]);
        assert!(!set.fill(Pfn(0x1000), &mut two));
        assert_eq!(two.iter().map(|frame| frame.0).collect::<Vec<_>>(), [next]);
        assert_eq!(set.count(), 3);
        assert_eq!([pop(set), pop(set), pop(set)], [Some(next - 2), Some(next - 1), Some(0x3000)]);
        assert_eq!((pop(set), set.count()), (None, 0));
        let mut two = batch([next, next - 1]);
        assert!(!set.fill(Pfn(0x1000), &mut two));
        assert_eq!((pop(set), pop(set)), (Some(next), None));
        assert!(set.fill(Pfn(0x1000), &mut batch([])));
    });
    with_pageset(3, 3, |set| {
        let mut four = batch([0x1001, 0x1002, 0x1003, 0x1004]);
        assert!(!set.fill(Pfn(0x1000), &mut four), "no more than the limit allows");
        assert!(four.iter().eq([Pfn(0x1003), Pfn(0x1004)]));
        assert_eq!((pop(set), pop(set)), (Some(0x1001), Some(0x1002)));
    });
}

proptest::proptest! {
    #[test]
    fn it_is_a_stack_whose_bottom_can_be_taken(
        high in proptest::prop_oneof![4u64..40, 900u64..1000],
        ops in proptest::collection::vec((0u8..4, 1u64..200), 1..300),
    ) {
        with_pageset(63, high, |set| {
            let mut high = high;
            let mut model = VecDeque::new();
            let mut fresh = 0x1000;
            for (op, number) in ops {
                match op {
                    0 => for _ in 0..number {
                        fresh += 1;
                        if push(set, fresh).is_ok() {
                            model.push_back(fresh);
                        } else {
                            let most = (high as usize).min(CAPACITY) - 1;
                            proptest::prop_assert!(model.len() >= most);
                        }
                    },
                    1 => for _ in 0..number / 2 {
                        proptest::prop_assert_eq!(pop(set), model.pop_back());
                    },
                    2 => {
                        let mut batch = RowBatch::new();
                        let taken = set.take_oldest(number as u32, &mut batch);
                        let most = model.len().min(number as usize);
                        proptest::prop_assert!(batch.room() == 0 || taken as usize == most);
                        let mut oldest: Vec<u64> = model.drain(..taken as usize).collect();
                        let mut got: Vec<u64> = batch.iter().map(|frame| frame.0).collect();
                        oldest.sort();
                        got.sort();
                        proptest::prop_assert_eq!(got, oldest);
                    }
                    _ => {
                        high = number * 6;
                        set.resize(PagesetSizes { batch: 1, high });
                        set.refit();
                    }
                }
                proptest::prop_assert_eq!(set.count() as usize, model.len());
                let ends = [model.front(), model.back()];
                proptest::prop_assert!(ends.iter().flatten().all(|&&at| set.holds(Pfn(at))));
            }
            Ok(())
        })?;
    }
}
