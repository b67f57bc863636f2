//! Random histories: the implementation and the model do the same.

use std::collections::BTreeSet;

use nearmem::zone::{Buddy, FreeFrames};
use nearmem::{Order, Pfn, PfnRange};
use proptest::prelude::*;

use crate::memory::with;
use crate::suite::{OfBuddy, OfFlags, fill, profile};

/// One step of a history.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Take a block.
    Take(Order),
    /// Put back the taken block with this number, modulo how many there are; all of it, or
    /// only an aligned part of this order.
    Put(usize, Option<(Order, usize)>),
    /// Put back whatever this is: an offset from 10 frames before the range.
    Misuse(u64, Order),
    /// Put back what is around the taken block with this number.
    Around(usize, Order),
}

fn orders() -> impl Strategy<Value = Order> {
    // Small ones are the usual ones.
    prop_oneof![3 => 0..4_u8, 1 => 0..11_u8].prop_map(|order| Order::new(order).unwrap())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let part = proptest::option::weighted(0.3, (orders(), any::<usize>()));
    prop::collection::vec(
        prop_oneof![
            4 => orders().prop_map(Step::Take),
            3 => (any::<usize>(), part).prop_map(|(which, part)| Step::Put(which, part)),
            1 => (0..5000_u64, orders()).prop_map(|(at, order)| Step::Misuse(at, order)),
            1 => (any::<usize>(), orders()).prop_map(|(which, order)| Step::Around(which, order)),
        ],
        1..150,
    )
}

fn ranges() -> impl Strategy<Value = PfnRange> {
    (0..3000_u64, 1..4000_u64, prop_oneof![Just(0), Just(0x3f_ffff_f000)])
        .prop_map(|(start, len, high)| PfnRange::new(high + start, high + start + len))
}

/// Counters, bits and blocks say the same.
fn check_sums(buddy: &Buddy<'_>, frames: PfnRange) -> Result<(), TestCaseError> {
    let bits = (frames.start.0..frames.end.0).filter(|&pfn| buddy.is_free(Pfn(pfn))).count();
    let blocks: u64 = Order::all().map(|order| buddy.blocks(order) * order.pages()).sum();
    prop_assert_eq!(buddy.free(), bits as u64);
    prop_assert_eq!(buddy.free(), blocks);
    Ok(())
}

/// Takes the block with this number, or a part of it, out of the list of what is taken.
fn pick(
    taken: &mut Vec<(Pfn, Order)>,
    which: usize,
    part: Option<(Order, usize)>,
) -> Option<(Pfn, Order)> {
    let count = taken.len();
    let (block, order) = *taken.get(which.checked_rem(count)?)?;
    taken.swap_remove(which % count);
    let Some((small, at)) = part.filter(|(small, _)| *small < order) else {
        return Some((block, order));
    };
    let parts = order.pages() / small.pages();
    let chosen = at as u64 % parts;
    for other in (0..parts).filter(|&other| other != chosen) {
        taken.push((block + other * small.pages(), small));
    }
    Some((block + chosen * small.pages(), small))
}

/// Puts back a block of which not all is taken. By luck all of it may be: then it is no misuse.
fn misuse(
    buddy: &mut Buddy<'_>,
    model: &mut crate::model::Flags,
    owned: &BTreeSet<u64>,
    block: Pfn,
    order: Order,
) -> Result<(), TestCaseError> {
    if (block.0..block.0 + order.pages()).all(|frame| owned.contains(&frame)) {
        return Ok(());
    }
    let error = buddy.put(block, order);
    prop_assert!(error.is_err());
    prop_assert_eq!(error, model.put(block, order));
    Ok(())
}

fn run(
    buddy: &mut Buddy<'_>,
    model: &mut crate::model::Flags,
    frames: PfnRange,
    steps: Vec<Step>,
) -> Result<(), TestCaseError> {
    fill(buddy, frames);
    fill(model, frames);
    let start = profile(buddy);
    prop_assert_eq!(&start, &profile(model));
    let mut taken = Vec::new();
    let mut owned = BTreeSet::new();
    for step in steps {
        match step {
            Step::Take(order) => {
                let block = buddy.take(order);
                prop_assert_eq!(block, model.take(order));
                if let Some(block) = block {
                    for frame in block.0..block.0 + order.pages() {
                        prop_assert!(owned.insert(frame), "{frame:#x} handed out twice");
                        prop_assert!(frames.contains(Pfn(frame)));
                    }
                    taken.push((block, order));
                }
            }
            Step::Put(which, part) => {
                let Some((block, order)) = pick(&mut taken, which, part) else { continue };
                prop_assert_eq!(buddy.put(block, order), Ok(()));
                prop_assert_eq!(model.put(block, order), Ok(()));
                for frame in block.0..block.0 + order.pages() {
                    owned.remove(&frame);
                }
            }
            Step::Misuse(at, order) => {
                let block = Pfn((frames.start.0 + at).saturating_sub(10));
                misuse(buddy, model, &owned, block, order)?;
            }
            Step::Around(which, order) => {
                let Some(at) = which.checked_rem(taken.len()) else { continue };
                let (inside, _) = taken[at];
                let block = Pfn(inside.0 >> order.get() << order.get());
                misuse(buddy, model, &owned, block, order)?;
            }
        }
        prop_assert_eq!(profile(buddy), profile(model));
        prop_assert_eq!(buddy.free() + owned.len() as u64, frames.len());
    }
    check_sums(buddy, frames)?;
    for (block, order) in taken {
        prop_assert_eq!(buddy.put(block, order), Ok(()));
    }
    // FR-62: whatever the order of the frees was.
    prop_assert_eq!(profile(buddy), start);
    check_sums(buddy, frames)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 400, ..Default::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn histories_equal_those_of_the_model(frames in ranges(), steps in steps()) {
        with::<OfBuddy, _>(frames, |buddy| {
            with::<OfFlags, _>(frames, |model| run(buddy, model, frames, steps))
        })?;
    }

    // FR-62: all single frames, in any order, leave the state of the start.
    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn any_order_of_frees_ends_in_the_same_state(
        frames in ranges(),
        seed in any::<u64>(),
    ) {
        with::<OfBuddy, _>(frames, |buddy| {
            fill(buddy, frames);
            let start = profile(buddy);
            let mut taken: Vec<Pfn> = std::iter::from_fn(|| buddy.take(Order::ZERO)).collect();
            prop_assert_eq!(taken.len() as u64, frames.len());
            // A shuffle that needs nothing but the seed.
            let mut state = seed | 1;
            taken.sort_by_cached_key(|frame| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(frame.0);
                state >> 20
            });
            for frame in taken {
                prop_assert_eq!(buddy.put(frame, Order::ZERO), Ok(()));
            }
            prop_assert_eq!(profile(buddy), start);
            Ok(())
        })?;
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn metadata_is_small(start in 0..1_u64 << 40, len in 4096..1_u64 << 34) {
        let bytes = Buddy::metadata_bytes(PfnRange::new(start, start + len));
        prop_assert!(bytes * 10 <= len * 3, "{bytes} bytes for {len} frames");
    }
}
