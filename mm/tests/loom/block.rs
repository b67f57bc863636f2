//! Single frames out of one block and back into it.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use nearmem::sync::{AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed, relax};
use nearmem::zone::{Block, RowBatch};
use nearmem::{Order, Pfn};

/// What a whole block adds to its region's word.
const WHOLE: u32 = 1 << 15;
/// The count in an entry, and the marks of a block that is handed out whole and of written rows.
const COUNT: u16 = 0x3ff;
const TAKEN: u16 = 1 << 10;
const BITS: u16 = 1 << 11;

/// A block with a region of its own, and a word of memory for each of a few frames.
pub struct Place {
    entry: AtomicU16,
    pub rows: [AtomicU64; 8],
    region: AtomicU32,
    memory: [(u32, UnsafeCell<u32>); 4],
}

impl Place {
    /// A whole block whose rows were never written. Of these frames the memory is watched.
    pub fn new(watched: [u32; 4]) -> Place {
        Place {
            entry: AtomicU16::new(512),
            rows: core::array::from_fn(|_| AtomicU64::new(0xa5a5_a5a5_a5a5_a5a5)),
            region: AtomicU32::new(512 + WHOLE),
            memory: watched.map(|frame| (frame, UnsafeCell::new(0))),
        }
    }

    /// The same with only these frames free: `(first, count)`.
    pub fn with_free(watched: [u32; 4], free: &[(u32, u16)]) -> Place {
        let place = Place::new(watched);
        assert!(place.block().take_whole());
        for &(first, count) in free {
            place.block().put(first, count).unwrap();
        }
        place
    }

    pub fn block(&self) -> Block<'_> {
        Block::new(&self.entry, &self.rows, &self.region)
    }

    /// Uses frames as their owner does: loom objects when another thread does, too, and when what
    /// the last owner wrote is not visible.
    pub fn use_frames(&self, first: u32, count: u32) {
        for (frame, memory) in &self.memory {
            if (first..first + count).contains(frame) {
                // SAFETY: the frames are ours alone; loom checks that.
                memory.with_mut(|word| unsafe { *word += 1 });
            }
        }
    }

    /// At rest: bits, entry and region say the same, which is `free`.
    pub fn check(&self, free: u32) {
        let entry = self.entry.load(Relaxed);
        let count = u32::from(entry & COUNT);
        let bits: u32 = self.rows.iter().map(|row| row.load(Relaxed).count_ones()).sum();
        let whole = if count == 512 { WHOLE } else { 0 };
        assert_eq!(count, free, "count");
        assert!(entry & (TAKEN | BITS) != BITS || bits == free, "{bits} bits, {free} frames");
        assert_eq!(self.region.load(Relaxed), free + whole, "region");
    }
}

/// Runs two CPUs on a place, in all interleavings with at most so many preemptions.
pub fn two(
    preemptions: usize,
    place: impl Fn() -> Place + Send + Sync + 'static,
    one: impl Fn(&Place) + Copy + Send + Sync + 'static,
    other: impl Fn(&Place) + Copy + Send + Sync + 'static,
    after: impl Fn(&Place) + Copy + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let place = Arc::new(place());
        let theirs = place.clone();
        let thread = thread::spawn(move || one(&theirs));
        other(&place);
        thread.join().unwrap();
        after(&place);
    });
}

/// Takes a single frame that is there, though perhaps not at this moment.
pub fn take_one(place: &Place) -> u32 {
    loop {
        if let Some(frame) = place.block().take(Order::ZERO) {
            place.use_frames(frame, 1);
            return frame;
        }
        relax();
    }
}

/// Row claim against free: the frame that one CPU frees may be the one that the other takes.
#[test]
fn a_claim_and_a_free_in_one_row() {
    let place = || Place::with_free([3, 4, 0, 0], &[(3, 1)]);
    let give = |place: &Place| {
        place.use_frames(4, 1);
        place.block().put(4, 1).unwrap();
    };
    let take = |place: &Place| {
        take_one(place);
        take_one(place);
    };
    two(3, place, give, take, |place| place.check(0));
}

/// Two promises, two frames in different rows: each finds one, though the bits move (I1).
#[test]
fn whoever_was_promised_a_frame_finds_one() {
    let place = || Place::with_free([7, 65, 0, 0], &[(7, 1), (65, 1)]);
    let swap = |place: &Place| {
        let frame = take_one(place);
        place.block().put(frame, 1).unwrap();
    };
    let take = |place: &Place| {
        take_one(place);
    };
    two(3, place, swap, take, |place| place.check(1));
}

/// The last frame goes to one of two.
#[test]
fn the_last_frame_is_handed_out_once() {
    let place = || Place::with_free([9, 0, 0, 0], &[(9, 1)]);
    let take = |place: &Place| {
        if let Some(frame) = place.block().take(Order::ZERO) {
            assert_eq!(frame, 9);
            place.use_frames(9, 1);
        }
    };
    two(3, place, take, take, |place| place.check(0));
}

/// Refill against drain: batches of frames in two rows.
#[test]
fn a_refill_and_a_drain() {
    let place = || Place::with_free([1, 2, 70, 71], &[(1, 1), (70, 1)]);
    let drain = |place: &Place| {
        place.use_frames(2, 1);
        place.use_frames(71, 1);
        assert_eq!(place.block().put_bits(0, 1 << 2), 0);
        assert_eq!(place.block().put_bits(1, 1 << 7), 0);
    };
    let refill = |place: &Place| {
        let mut batch = RowBatch::new();
        let got = place.block().take_singles(Pfn(0), 3, &mut batch);
        assert!(got >= 2);
        assert_eq!(batch.count(), u32::from(got));
        batch.iter().for_each(|frame| place.use_frames(frame.0 as u32, 1));
        for row in batch.rows() {
            assert_eq!(place.block().put_bits(row.start.0 as usize / 64, row.frames), 0);
        }
    };
    two(2, place, drain, refill, |place| place.check(4));
}
