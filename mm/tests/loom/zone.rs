//! A whole zone: first use of a region, and a region that another CPU prefers.

use loom::sync::Arc;
use loom::thread;
use nearmem::platform::CpuToken;
use nearmem::zone::{Cursor, FreeFrames, FreeMap, RawMemory, RowBatch};
use nearmem::{CpuId, Order, Pfn, PfnRange};

/// A zone of one block and the memory that describes it.
struct Zone {
    map: FreeMap<'static>,
    memory: *mut [u128],
}

// SAFETY: the memory is used through the map, which may be shared.
unsafe impl Send for Zone {}
// SAFETY: as above.
unsafe impl Sync for Zone {}

impl Zone {
    fn new(frames: PfnRange) -> Zone {
        let ranges = || std::iter::once(frames);
        // Loom's atomics are larger than the real ones.
        let memory = Box::into_raw(vec![0_u128; 1 << 12].into_boxed_slice());
        // SAFETY: the memory lives until the zone is dropped, and nobody else uses it.
        let raw = unsafe { RawMemory::new(memory.cast(), 16 << 12) };
        let map = FreeMap::new(frames, 1, ranges(), raw).unwrap();
        map.release(&token(0), frames).unwrap();
        Zone { map, memory }
    }
}

impl Drop for Zone {
    fn drop(&mut self) {
        // SAFETY: it came from `Box::into_raw`; the map does not touch it when it is dropped.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

fn token(cpu: u16) -> CpuToken {
    // SAFETY: each thread of a model is a CPU of its own, and nothing interrupts it.
    unsafe { CpuToken::assume(CpuId(cpu)) }
}

/// Two CPUs take single frames of a zone that was never used: one of them initialises the region,
/// one writes the rows, the second works in the region of the first.
#[test]
fn the_first_use_of_a_region() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let zone = Arc::new(Zone::new(PfnRange::new(0x1000, 0x1200)));
        let take = |zone: &Zone, cpu: u16| {
            let mut frames = RowBatch::new();
            let got = zone.map.take_batch(&token(cpu), &Cursor::new(), 2, &mut frames);
            assert_eq!(got, 2);
            frames.iter().collect::<Vec<_>>()
        };
        let theirs = zone.clone();
        let thread = thread::spawn(move || take(&theirs, 1));
        let mut frames = take(&zone, 0);
        frames.extend(thread.join().unwrap());
        frames.sort();
        assert_eq!(frames, [0x1000, 0x1001, 0x1002, 0x1003].map(Pfn));
        assert_eq!(zone.map.free(), 508);
        let mut batch = RowBatch::new();
        frames.into_iter().for_each(|frame| assert!(batch.add(frame)));
        assert_eq!(zone.map.put_batch(&token(0), &batch), None);
        assert_eq!(zone.map.blocks(&token(0))[9], 1);
    });
}

/// A CPU that steals from the region of another, and its owner.
#[test]
fn a_thief_and_the_owner() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let zone = Arc::new(Zone::new(PfnRange::new(0x1000, 0x1003)));
        let owner = Cursor::new();
        let first = zone.map.take(&token(0), &owner, Order::ZERO);
        assert_eq!(first, Some(Pfn(0x1000)));
        let theirs = zone.clone();
        let thread =
            thread::spawn(move || theirs.map.take(&token(1), &Cursor::new(), Order::ZERO).unwrap());
        let mine = zone.map.take(&token(0), &owner, Order::ZERO).unwrap();
        assert_ne!(mine, thread.join().unwrap());
        assert_eq!(zone.map.free(), 0);
        assert_eq!(zone.map.take(&token(0), &owner, Order::ZERO), None);
    });
}

/// A zone that shrinks by exact frames, and a CPU that takes one of them: one of the two wins.
#[test]
fn shrinking_and_a_taker() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let zone = Arc::new(Zone::new(PfnRange::new(0x1000, 0x1004)));
        let cursor = Cursor::new();
        let first = zone.map.take(&token(0), &cursor, Order::ZERO);
        assert_eq!(first, Some(Pfn(0x1000)));
        let theirs = zone.clone();
        let shrink = move || theirs.map.shrink(&token(1), PfnRange::new(0x1001, 0x1003)).is_ok();
        let thread = thread::spawn(shrink);
        // Other frames of the block come back meanwhile.
        let mine = zone.map.take(&token(0), &cursor, Order::ZERO);
        let returned = zone.map.put(&token(0), Pfn(0x1000), Order::ZERO);
        assert_eq!(returned, Ok(()));
        let shrunk = thread.join().unwrap();
        let mut left = 4;
        if let Some(frame) = mine {
            assert!(!shrunk || frame == Pfn(0x1003));
            left -= 1;
        }
        left -= if shrunk { 2 } else { 0 };
        assert_eq!(zone.map.free(), left);
        assert_eq!(zone.map.blocks(&token(0))[0] + 2 * zone.map.blocks(&token(0))[1], left);
    });
}

/// Contiguous frames against a single one among them.
#[test]
fn contiguous_frames_and_a_taker() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let zone = Arc::new(Zone::new(PfnRange::new(0x1000, 0x1003)));
        let cursor = Cursor::new();
        assert_eq!(zone.map.take(&token(0), &cursor, Order::ZERO), Some(Pfn(0x1000)));
        let theirs = zone.clone();
        let limit = PfnRange::new(0x1000, 0x2000);
        let thread = thread::spawn(move || {
            let first = theirs.map.take_contiguous(&token(1), 2, 1, limit)?;
            Some(theirs.map.put_range(&token(1), PfnRange { start: first, end: first + 2 }))
        });
        let mine = zone.map.take(&token(0), &cursor, Order::ZERO);
        let theirs = thread.join().unwrap();
        assert!(theirs.is_none_or(|put| put.is_ok()));
        let left = if mine.is_some() { 1 } else { 2 };
        assert_eq!((zone.map.free(), zone.map.is_free(&token(0), Pfn(0x1000))), (left, false));
    });
}
