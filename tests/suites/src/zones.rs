//! Zones: where their metadata lies, what boot left of zone DMA, and counts that agree.

use nearmem::zone::{Watermarks, ZoneKind};
use nearmem::{Order, PhysRange};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;

use crate::support::with_token;

kernel_tests! {
    metadata_lies_on_its_own_node_and_is_reserved,
    zone_dma_keeps_3000_frames,
    free_frames_are_the_sum_over_the_orders,
    watermarks_are_in_order_and_not_all_is_kept,
    lower_zones_are_protected_from_higher_requests,
}

fn metadata_lies_on_its_own_node_and_is_reserved(kernel: &Kernel) {
    let mut all: alloc::vec::Vec<PhysRange> = alloc::vec::Vec::new();
    for zone in kernel.memory.zones() {
        let metadata = zone.metadata();
        assert!(!metadata.is_empty(), "metadata of {:?}", zone.id());
        let frames = metadata.touched_frames();
        for pfn in (frames.start.0..frames.end.0).map(nearmem::Pfn) {
            assert_eq!(kernel.map.node_of(pfn), Some(zone.id().node), "{:?}", zone.id());
            let owner = kernel.memory.zone_of(pfn).expect("a frame of the map is in a zone");
            let managed = with_token(kernel, |token| owner.is_managed(token, pfn));
            assert!(!managed, "{pfn:?} holds metadata of {:?}, but is given out", zone.id());
        }
        assert!(all.iter().all(|other| !other.overlaps(metadata)), "{metadata} overlaps");
        all.push(metadata);
    }
}

/// Boot memory grows upward from 16 MiB, so that what needs low addresses finds some (a machine has
/// 3998 frames there; the firmware has the others).
fn zone_dma_keeps_3000_frames(kernel: &Kernel) {
    let dma = kernel.memory.zones().iter().filter(|zone| zone.id().kind == ZoneKind::Dma);
    let free: u64 = dma.map(|zone| zone.free()).sum();
    assert!(free >= 3000, "{free} frames are free below 16 MiB");
}

fn free_frames_are_the_sum_over_the_orders(kernel: &Kernel) {
    kernel.memory.drain_all();
    for zone in kernel.memory.zones() {
        with_token(kernel, |token| {
            let of_order = |order: Order| zone.blocks(token, order) << order.get();
            let sum: u64 = Order::all().map(of_order).sum();
            assert_eq!(sum, zone.free(), "{:?}", zone.id());
        });
    }
}

fn watermarks_are_in_order_and_not_all_is_kept(kernel: &Kernel) {
    for zone in kernel.memory.zones().iter().filter(|zone| zone.managed() > 0) {
        let Watermarks { min, low, high } = zone.watermarks();
        assert!(min <= low && low <= high, "{:?}: {:?}", zone.id(), zone.watermarks());
        assert!(min < zone.managed(), "{:?} keeps all of its frames", zone.id());
    }
}

/// For a zone and a request that may use a higher one: the frames that the higher zones of the node
/// manage, divided by 256 (DMA, DMA32).
fn lower_zones_are_protected_from_higher_requests(kernel: &Kernel) {
    for zone in kernel.memory.zones().iter().filter(|zone| zone.managed() > 0) {
        for limit in ZoneKind::ALL {
            let above = kernel.memory.zones().iter().filter(|other| {
                let (id, other) = (zone.id(), other.id());
                other.node == id.node && other.kind > id.kind && other.kind <= limit
            });
            let managed: u64 = above.map(|other| other.managed()).sum();
            assert_eq!(zone.protection(limit), managed / 256, "{:?} from {limit}", zone.id());
        }
    }
}
