//! Pagesets: each CPU's, where the option says, bounded, and last in first out.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use nearmem::alloc::{FrameBlock, PagesetPlacement, Request};
use nearmem::zone::ZoneId;
use nearmem::{CpuId, Order};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;

use crate::support::{give_back, nearest_with_memory, take_from, with_token};

kernel_tests! {
    every_cpu_has_one_for_every_zone,
    they_live_where_the_option_says,
    draining_leaves_none_parked,
    a_refill_parks_one_batch,
    the_last_frame_freed_is_the_first_one_served,
    what_is_parked_is_bounded,
    free_parked_and_taken_frames_add_up,
}

/// All pairs of a present CPU and a zone that gives frames out.
fn pairs(kernel: &Kernel) -> impl Iterator<Item = (CpuId, ZoneId)> {
    let zones = kernel.memory.zones().iter().filter(|zone| zone.managed() > 0);
    let cpus = kernel.map.cpus().len() as u16;
    zones.flat_map(move |zone| (0..cpus).map(|cpu| (CpuId(cpu), zone.id())))
}

fn every_cpu_has_one_for_every_zone(kernel: &Kernel) {
    let mut frames = BTreeSet::new();
    for (cpu, id) in pairs(kernel) {
        let frame = kernel.memory.pageset_frame(cpu, id);
        let frame = frame.unwrap_or_else(|| panic!("CPU {cpu} has the boot pageset of {id:?}"));
        assert!(frames.insert(frame), "{frame:?} is two pagesets");
        let owner = kernel.memory.zone_of(frame).expect("a pageset is RAM");
        let free = with_token(kernel, |token| owner.is_free(token, frame));
        assert!(!free, "{frame:?} is a pageset, and free");
    }
}

/// Local: on the CPU's node, or the nearest that has memory. Zone: on the zone's node.
fn they_live_where_the_option_says(kernel: &Kernel) {
    for (cpu, id) in pairs(kernel) {
        let frame = kernel.memory.pageset_frame(cpu, id).expect("a pageset");
        let expected = match kernel.options.alloc.pagesets {
            PagesetPlacement::Local => nearest_with_memory(kernel, kernel.map.node_of_cpu(cpu)),
            PagesetPlacement::Zone => id.node,
        };
        assert_eq!(kernel.map.node_of(frame), Some(expected), "CPU {cpu}, {id:?}");
    }
}

fn draining_leaves_none_parked(kernel: &Kernel) {
    let block = kernel.memory.alloc(&Request::new(Order::ZERO)).expect("a frame");
    give_back(kernel.memory, block);
    kernel.memory.drain_all();
    for (cpu, id) in pairs(kernel) {
        assert_eq!(kernel.memory.parked(cpu, id), 0, "CPU {cpu}, {id:?}");
    }
}

fn a_refill_parks_one_batch(kernel: &Kernel) {
    kernel.memory.drain_all();
    for node in kernel.map.with_memory().iter() {
        let free_before: Vec<u64> = kernel.memory.zones().iter().map(|zone| zone.free()).collect();
        let Some(block) = take_from(kernel.memory, node, Order::ZERO) else { continue };
        let zones = kernel.memory.zones().iter().zip(free_before);
        let (zone, before) =
            zones.into_iter().find(|(zone, _)| zone.id() == block.zone()).expect("its zone");
        let batch = u64::from(kernel.memory.pageset_sizes(zone.id()).expect("sizes").batch);
        assert_eq!(before - zone.free(), batch + 1, "frames that left {:?}", zone.id());
        assert_eq!(kernel.memory.parked_in(zone.id()), batch, "parked of {:?}", zone.id());
        give_back(kernel.memory, block);
        kernel.memory.drain_all();
    }
}

fn the_last_frame_freed_is_the_first_one_served(kernel: &Kernel) {
    for node in kernel.map.with_memory().iter() {
        let blocks: Vec<_> =
            (0..3).filter_map(|_| take_from(kernel.memory, node, Order::ZERO)).collect();
        let frames: Vec<_> = blocks.iter().map(|block| (block.pfn(), block.zone())).collect();
        if !frames.iter().all(|&(_, zone)| zone == frames[0].1) {
            blocks.into_iter().for_each(|block| give_back(kernel.memory, block));
            continue;
        }
        blocks.into_iter().for_each(|block| give_back(kernel.memory, block));
        for &(pfn, _) in frames.iter().rev() {
            let again = take_from(kernel.memory, node, Order::ZERO).expect("a parked frame");
            assert_eq!(again.pfn(), pfn, "node {node}");
            let _ = again.leak();
        }
        for (pfn, _) in frames {
            // SAFETY: the frame was allocated and leaked just above, and comes up once.
            let block = unsafe { FrameBlock::from_raw(kernel.memory, pfn, Order::ZERO) };
            give_back(kernel.memory, block.expect("an allocated frame"));
        }
    }
}

fn what_is_parked_is_bounded(kernel: &Kernel) {
    for node in kernel.map.with_memory().iter() {
        let mut blocks = Vec::with_capacity(4000);
        while blocks.len() < blocks.capacity()
            && let Some(block) = take_from(kernel.memory, node, Order::ZERO)
        {
            blocks.push(block);
        }
        for block in blocks {
            let id = block.zone();
            give_back(kernel.memory, block);
            let parked = kernel.memory.parked_in(id);
            assert!(parked <= kernel.memory.parked_bound(id), "{parked} frames of {id:?}");
        }
    }
}

fn free_parked_and_taken_frames_add_up(kernel: &Kernel) {
    let free_and_parked = || -> u64 {
        let zones = kernel.memory.zones().iter();
        zones.map(|zone| zone.free() + kernel.memory.parked_in(zone.id())).sum()
    };
    let mut blocks = Vec::with_capacity(500);
    let before = free_and_parked();
    for count in 1..=500 {
        blocks.push(kernel.memory.alloc(&Request::new(Order::ZERO)).expect("a frame"));
        assert_eq!(free_and_parked() + count, before, "after taking {count}");
    }
    for block in blocks.drain(..) {
        give_back(kernel.memory, block);
    }
    assert_eq!(free_and_parked(), before, "after giving all back");
}
