//! What must hold when no CPU works.

use nearmem::alloc::NumaCounters;
use nearmem::{Order, Pfn, PfnRange};

use crate::cpu::Kept;
use crate::machine::Mm;
use crate::owners::Owners;

/// What the zones say of themselves: managed and free frames, free blocks of each order.
pub fn picture(mm: &Mm<'_>) -> Vec<(u64, u64, [u64; Order::COUNT])> {
    let cpu = mm.pin();
    let zone = |zone: &&nearmem::zone::Zone<'_>| {
        (zone.managed(), zone.free(), zone.block_counts(cpu.token()))
    };
    mm.zones().iter().map(zone).collect()
}

/// Free frames = bits = counters, in every zone; free, parked and held frames are all frames; no
/// frame that somebody has is free.
pub fn check<'a, 'm: 'a>(mm: &Mm<'m>, owners: &Owners, held: impl Iterator<Item = &'a Kept<'m>>) {
    let (mut allocated, mut reserved) = (0, 0);
    for kept in held {
        let blocks = kept.blocks.iter().map(|block| block.order().pages());
        let ranges = kept.ranges.iter().map(|(_, range)| range.len());
        allocated += blocks.sum::<u64>() + ranges.sum::<u64>();
        reserved += kept.reserved.iter().map(|(_, range)| range.len()).sum::<u64>();
    }
    assert_eq!(owners.owned() as u64, allocated + reserved);
    let parked: u64 = mm.zones().iter().map(|zone| mm.parked_in(zone.id())).sum();
    let free: u64 = mm.zones().iter().map(|zone| zone.free()).sum();
    assert_eq!(free + parked + mm.pageset_pages() + allocated, mm.managed());
    let mut sum = NumaCounters::default();
    let cpu = mm.pin();
    for zone in mm.zones() {
        assert_eq!(zone.leaked(), 0);
        let blocks = zone.block_counts(cpu.token());
        let counted: u64 = Order::all().zip(blocks).map(|(order, n)| n << order.get()).sum();
        assert_eq!(counted, zone.free(), "{}: by order {blocks:?}", zone.id());
        let frames = |range: &PfnRange| (range.start.0..range.end.0).map(Pfn);
        let mut bits = 0;
        for frame in zone.ranges().iter().flat_map(frames) {
            if zone.is_free(cpu.token(), frame) {
                assert!(!owners.has(frame), "{frame:?} is free and has an owner");
                bits += 1;
            }
        }
        assert_eq!(bits, zone.free(), "{}: by frame", zone.id());
        let counters = mm.zone_counters(zone.id());
        assert_eq!(counters.hit + counters.miss, counters.local + counters.other);
        sum += counters;
    }
    assert_eq!(sum.miss, sum.foreign);
}
