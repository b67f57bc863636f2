//! Random histories: each implementation does what the model says can be done.
//!
//! Which block is taken is up to the implementation: the model says whether it was free, and
//! whether there was one.

use std::collections::BTreeSet;

use nearmem::zone::{FreeFrames, FreeMap, LockedBuddy};
use nearmem::{Order, Pfn, PfnRange};
use proptest::prelude::*;

use crate::memory::{OnCpu, with};
use crate::model::Model;
use crate::suite::{OfBuddy, OfFreeMap, OfModel};

/// One step of a history.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Take a block.
    Take(Order),
    /// Take single frames, as many as this.
    Batch(usize),
    /// Put so many of the taken blocks back as single frames, from this one on.
    PutBatch(usize, usize),
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
            1 => (1..200_usize).prop_map(Step::Batch),
            1 => (any::<usize>(), 1..100_usize).prop_map(|(at, count)| Step::PutBatch(at, count)),
            3 => (any::<usize>(), part).prop_map(|(which, part)| Step::Put(which, part)),
            1 => (0..5000_u64, orders()).prop_map(|(at, order)| Step::Misuse(at, order)),
            1 => (any::<usize>(), orders()).prop_map(|(which, order)| Step::Around(which, order)),
        ],
        1..150,
    )
}

/// Frame 0 is never released.
fn ranges() -> impl Strategy<Value = PfnRange> {
    (1..3000_u64, 1..4000_u64, prop_oneof![Just(0), Just(0x3f_ffff_f000)])
        .prop_map(|(start, len, high)| PfnRange::new(high + start, high + start + len))
}

/// Counters, bits and blocks say the same.
fn check_sums<'m>(
    tested: &OnCpu<'_, impl FreeFrames<'m>>,
    frames: PfnRange,
) -> Result<(), TestCaseError> {
    let bits = (frames.start.0..frames.end.0).filter(|&pfn| tested.is_free(Pfn(pfn))).count();
    let blocks: u64 =
        Order::all().zip(tested.profile()).map(|(order, count)| count << order.get()).sum();
    prop_assert_eq!(tested.free(), bits as u64);
    prop_assert_eq!(tested.free(), blocks);
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
fn misuse<'m>(
    tested: &OnCpu<'_, impl FreeFrames<'m>>,
    model: &OnCpu<'_, Model>,
    owned: &BTreeSet<u64>,
    block: Pfn,
    order: Order,
) -> Result<(), TestCaseError> {
    if (block.0..block.0 + order.pages()).all(|frame| owned.contains(&frame)) {
        return Ok(());
    }
    let error = tested.put(block, order);
    prop_assert!(error.is_err());
    prop_assert_eq!(error, model.put(block, order));
    Ok(())
}

fn run<'m>(
    tested: &OnCpu<'_, impl FreeFrames<'m>>,
    model: &OnCpu<'_, Model>,
    frames: PfnRange,
    steps: Vec<Step>,
) -> Result<(), TestCaseError> {
    tested.release(frames).unwrap();
    model.release(frames).unwrap();
    let start = tested.profile();
    prop_assert_eq!(&start, &model.profile());
    let mut taken = Vec::new();
    let mut owned = BTreeSet::new();
    for step in steps {
        match step {
            Step::Take(order) => match tested.take(order) {
                Some(block) => {
                    prop_assert!(model.structure.claim(block, order), "{block:?} was not free");
                    owned.extend(block.0..block.0 + order.pages());
                    taken.push((block, order));
                }
                None => prop_assert!(!model.structure.has(order), "{order:?} is there"),
            },
            Step::Batch(count) => {
                let mut batch = vec![Pfn(0); count];
                let got = tested.take_batch(&mut batch);
                prop_assert!(got > 0 || tested.free() == 0);
                for &frame in &batch[..got] {
                    prop_assert!(model.structure.claim(frame, Order::ZERO), "{frame:?} not free");
                    owned.insert(frame.0);
                    taken.push((frame, Order::ZERO));
                }
            }
            Step::PutBatch(at, count) => {
                let at = at.checked_rem(taken.len()).unwrap_or(0);
                let blocks: Vec<_> = taken.drain(at..(at + count).min(taken.len())).collect();
                let frames_of = |&(block, order): &(Pfn, Order)| block.0..block.0 + order.pages();
                let batch: Vec<Pfn> = blocks.iter().flat_map(frames_of).map(Pfn).collect();
                prop_assert_eq!(tested.put_batch(&batch), None);
                prop_assert_eq!(model.put_batch(&batch), None);
                batch.iter().for_each(|frame| assert!(owned.remove(&frame.0)));
            }
            Step::Put(which, part) => {
                let Some((block, order)) = pick(&mut taken, which, part) else { continue };
                prop_assert_eq!(tested.put(block, order), Ok(()));
                prop_assert_eq!(model.put(block, order), Ok(()));
                for frame in block.0..block.0 + order.pages() {
                    owned.remove(&frame);
                }
            }
            Step::Misuse(at, order) => {
                let block = Pfn((frames.start.0 + at).saturating_sub(10));
                misuse(tested, model, &owned, block, order)?;
            }
            Step::Around(which, order) => {
                let Some(at) = which.checked_rem(taken.len()) else { continue };
                let (inside, _) = taken[at];
                let block = Pfn(inside.0 >> order.get() << order.get());
                misuse(tested, model, &owned, block, order)?;
            }
        }
        prop_assert_eq!(tested.profile(), model.profile());
        prop_assert_eq!(tested.free() + owned.len() as u64, frames.len());
    }
    check_sums(tested, frames)?;
    for (block, order) in taken {
        prop_assert_eq!(tested.put(block, order), Ok(()));
    }
    // FR-62: whatever the order of the frees was.
    prop_assert_eq!(tested.profile(), start);
    check_sums(tested, frames)
}

/// FR-62: all single frames, in any order, leave the state of the start.
fn free_in_any_order<'m>(
    tested: &OnCpu<'_, impl FreeFrames<'m>>,
    frames: PfnRange,
    seed: u64,
) -> Result<(), TestCaseError> {
    tested.release(frames).unwrap();
    let start = tested.profile();
    let mut taken: Vec<Pfn> = std::iter::from_fn(|| tested.take(Order::ZERO)).collect();
    prop_assert_eq!(taken.len() as u64, frames.len());
    // A shuffle that needs nothing but the seed.
    let mut state = seed | 1;
    taken.sort_by_cached_key(|frame| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(frame.0);
        state >> 20
    });
    for frame in taken {
        prop_assert_eq!(tested.put(frame, Order::ZERO), Ok(()));
    }
    prop_assert_eq!(tested.profile(), start);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 128 }, max_shrink_iters: 400, ..Default::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn histories_of_bits_and_counters_are_possible(frames in ranges(), steps in steps()) {
        with::<OfFreeMap, _>(frames, |tested| {
            with::<OfModel, _>(frames, |model| run(tested, model, frames, steps))
        })?;
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn histories_of_buddies_are_possible(frames in ranges(), steps in steps()) {
        with::<OfBuddy, _>(frames, |tested| {
            with::<OfModel, _>(frames, |model| run(tested, model, frames, steps))
        })?;
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn any_order_of_frees_ends_in_the_same_state(frames in ranges(), seed in any::<u64>()) {
        with::<OfFreeMap, _>(frames, |tested| free_in_any_order(tested, frames, seed))?;
        with::<OfBuddy, _>(frames, |tested| free_in_any_order(tested, frames, seed))?;
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn metadata_is_small(start in 0..1_u64 << 40, len in 1 << 18..1_u64 << 34) {
        let ranges = || std::iter::once(PfnRange::new(start, start + len));
        let bytes = FreeMap::metadata_bytes(ranges());
        // 0.13 bytes a frame, and what is the same for every zone.
        prop_assert!((bytes - 4096) * 100 <= len * 13, "{bytes} bytes for {len} frames");
        prop_assert!(LockedBuddy::metadata_bytes(ranges()) * 10 <= len * 3);
    }
}
