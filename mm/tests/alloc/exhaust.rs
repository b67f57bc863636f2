//! Every frame once, to the last, and back.

use std::collections::HashSet;

use nearmem::alloc::{Options, Request};
use nearmem::zone::ZoneKind;
use nearmem::{Order, PfnRange};

use crate::machines::{Mm, PAGE, boot, order, take_all, topologies, unused, up, without_marks};

/// Free blocks of each zone by order.
fn blocks(mm: &Mm<'_>) -> Vec<Vec<u64>> {
    let cpu = mm.pin();
    mm.zones()
        .iter()
        .map(|zone| Order::all().map(|order| zone.blocks(cpu.token(), order)).collect())
        .collect()
}

fn shuffle<T>(list: &mut [T], mut seed: u64) {
    for at in (1..list.len()).rev() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        list.swap(at, (seed >> 33) as usize % (at + 1));
    }
}

#[test]
fn every_managed_frame_is_given_once_and_all_come_back() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = up(&machine, &map);
        without_marks(&mm);
        mm.drain_all();
        let before = blocks(&mm);
        let managed: u64 = mm.zones().iter().map(|zone| zone.managed()).sum();

        let mut taken = take_all(&mm, &PAGE);
        assert_eq!(unused(&mm), 0, "{name}");
        assert_eq!(taken.len() as u64 + mm.pageset_pages(), managed, "{name}");
        let distinct: HashSet<_> = taken.iter().map(|block| block.pfn()).collect();
        assert_eq!(distinct.len(), taken.len(), "{name}: a frame was given twice");
        for block in &taken {
            assert_eq!(map.node_of(block.pfn()), Some(block.zone().node), "{name}");
            assert!(block.zone().kind.frames().contains(block.pfn()), "{name}");
            assert_ne!(block.pfn().0, 0, "{name}");
        }

        shuffle(&mut taken, 7);
        taken.into_iter().for_each(|block| mm.free(block).unwrap());
        mm.drain_all();
        assert_eq!(blocks(&mm), before, "{name}: not merged as before");
        assert_eq!(unused(&mm) + mm.pageset_pages(), managed, "{name}");
        assert!(mm.zones().iter().all(|zone| zone.leaked() == 0), "{name}");
    }
}

#[test]
fn blocks_of_mixed_orders_never_overlap_and_are_aligned() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = boot(&machine, &map, Options::default());
        let before = blocks(&mm);
        let mut taken = Vec::new();
        for wanted in [10, 3, 9, 0, 5, 1, 7, 2, 4, 8, 6].into_iter().cycle().take(4000) {
            if let Ok(block) = mm.alloc(&Request::new(order(wanted))) {
                assert!(block.pfn().is_aligned(block.order()), "{name}: {block:?}");
                taken.push(block);
            }
        }
        let mut ranges: Vec<PfnRange> = taken
            .iter()
            .map(|block| PfnRange::new(block.pfn().0, block.pfn().0 + block.order().pages()))
            .collect();
        ranges.sort_by_key(|range| range.start);
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{name}");
        shuffle(&mut taken, 11);
        taken.into_iter().for_each(|block| mm.free(block).unwrap());
        assert_eq!(blocks(&mm), before, "{name}");
    }
}

#[test]
fn a_dma_request_never_gets_higher_memory() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = up(&machine, &map);
        for limit in [ZoneKind::Dma, ZoneKind::Dma32] {
            let taken = take_all(&mm, &PAGE.limit(limit));
            assert!(taken.iter().all(|block| block.zone().kind <= limit), "{name}");
            assert!(!taken.is_empty(), "{name}");
            taken.into_iter().for_each(|block| mm.free(block).unwrap());
        }
    }
}
