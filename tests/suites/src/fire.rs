//! All CPUs at the allocator at once: no frame is handed out twice and nothing is lost, whatever
//! else goes on: drains, shoot-downs, CPUs that come and go.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use nearmem::alloc::{FrameBlock, Request};
use nearmem::vmalloc::VmRequest;
use nearmem::{CpuId, NodeId, Order, PAGE_SIZE};
use nearmem_kernel::{Kernel, cpus};
use nearmem_suites::kernel_tests;
use nearmem_x86_64::interrupts::InterruptsOff;

use crate::owners::Owners;
use crate::support::{free_by_zone, give_back, some_cpus, take_from};

kernel_tests! {
    no_frame_is_handed_out_twice,
    cpus_that_drain_each_other_do_not_lock_up,
    interrupts_off_for_long_only_delay_a_drain,
    areas_come_and_go_on_several_cpus,
    cpus_go_off_and_on_while_others_allocate,
    a_cpu_that_goes_off_leaves_nothing_parked,
    what_cannot_be_taken_off_or_put_on_is_refused,
}

/// Operations of a test, all CPUs together.
const OPERATIONS: usize = 20_000;
/// The most blocks that one CPU holds.
const HELD: usize = 32;

/// Takes and frees blocks of all nodes in an order that depends on the CPU; every operation goes
/// through `owners`. Calls `between` after each with its number. Frees all in the end.
fn hammer(
    kernel: &Kernel,
    cpu: CpuId,
    count: usize,
    owners: &Owners,
    mut between: impl FnMut(usize),
) {
    let nodes: Vec<NodeId> = kernel.map.with_memory().iter().collect();
    let mut held: Vec<FrameBlock<'static>> = Vec::with_capacity(HELD);
    let mut random = u64::from(cpu.0) + 1;
    for operation in 0..count {
        // A linear congruential generator, of which the upper bits are used.
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let draw = (random >> 33) as usize;
        if held.len() == HELD || draw.is_multiple_of(3) {
            if !held.is_empty() {
                let block = held.swap_remove(draw / 3 % held.len());
                owners.give(&block);
                give_back(kernel.memory, block);
            }
        } else {
            let order = if draw.is_multiple_of(8) { draw / 8 % 4 } else { 0 };
            let order = Order::new(order as u8).expect("0 to 3");
            if let Some(block) = take_from(kernel.memory, nodes[draw / 64 % nodes.len()], order) {
                owners.take(&block);
                held.push(block);
            }
        }
        between(operation);
    }
    for block in held {
        owners.give(&block);
        give_back(kernel.memory, block);
    }
}

/// Runs `work` on all CPUs with the operations that each has to do, and expects that all frames are
/// free again in the end, zone by zone.
fn on_all(kernel: &Kernel, work: &(dyn Fn(CpuId, usize, &Owners) + Sync)) {
    let owners = Owners::new(kernel);
    let before = free_by_zone(kernel);
    let cpus = cpus::online(kernel.memory);
    let each = OPERATIONS / cpus.len();
    let did = cpus::run_on(&cpus, &|cpu| work(cpu, each, &owners));
    assert_eq!(did, cpus.len());
    owners.expect_none();
    assert_eq!(free_by_zone(kernel), before, "free frames by zone");
}

fn no_frame_is_handed_out_twice(kernel: &Kernel) {
    on_all(kernel, &|cpu, count, owners| hammer(kernel, cpu, count, owners, |_| ()));
}

fn cpus_that_drain_each_other_do_not_lock_up(kernel: &Kernel) {
    let drains = AtomicUsize::new(0);
    on_all(kernel, &|cpu, count, owners| {
        hammer(kernel, cpu, count, owners, |operation| {
            if operation.is_multiple_of(64) {
                match operation.is_multiple_of(128) {
                    true => kernel.memory.drain_all(),
                    false => kernel.memory.drain_zone(kernel.memory.zones()[0].id()),
                }
                drains.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    assert!(drains.into_inner() >= cpus::online(kernel.memory).len());
}

/// The last CPU parks a frame and keeps interrupts off until the first has been waiting for a while.
fn interrupts_off_for_long_only_delay_a_drain(kernel: &Kernel) {
    let cpus = cpus::online(kernel.memory);
    let (Some(&first), Some(&last)) = (cpus.first(), cpus.last()) else { return };
    if first == last {
        return;
    }
    let before = free_by_zone(kernel);
    let (parked, go_on, drained) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    cpus::run_on(&cpus, &|cpu| match cpu {
        cpu if cpu == last => {
            let block = kernel.memory.alloc(&Request::new(Order::ZERO)).expect("a frame");
            give_back(kernel.memory, block);
            let _off = InterruptsOff::new();
            parked.store(true, Ordering::Release);
            while !go_on.load(Ordering::Acquire) {
                core::hint::spin_loop();
            }
            assert!(!drained.load(Ordering::Acquire), "nobody can have drained this CPU");
        }
        cpu if cpu == first => {
            while !parked.load(Ordering::Acquire) {
                core::hint::spin_loop();
            }
            go_on.fetch_or(cpus.len() == 2, Ordering::Release);
            kernel.memory.drain_all();
            drained.store(true, Ordering::Release);
        }
        // The others let it go on when they have done some work of their own.
        cpu => {
            hammer(kernel, cpu, 50, &Owners::none(), |_| ());
            while !parked.load(Ordering::Acquire) {
                core::hint::spin_loop();
            }
            go_on.store(true, Ordering::Release);
        }
    });
    let parked: u64 =
        kernel.memory.zones().iter().map(|zone| kernel.memory.parked(last, zone.id())).sum();
    assert_eq!(parked, 0, "parked frames of CPU {last}");
    assert_eq!(free_by_zone(kernel), before);
}

/// Mapping, shoot-down of all CPUs and page tables with up to 8 CPUs at them. All areas go; what may stay is a page
/// of vmalloc's own records and empty page tables where two areas went at the same time, a few for
/// each CPU at most, however many areas there were.
fn areas_come_and_go_on_several_cpus(kernel: &Kernel) {
    let (areas, pages_used) = (AtomicUsize::new(0), AtomicU64::new(0));
    let count = kernel.vmalloc.area_count();
    let before: u64 = free_by_zone(kernel).into_iter().sum();
    let cpus = some_cpus(kernel);
    let rounds = 32 / cpus.len() as u64;
    let did = cpus::run_on(&cpus, &|cpu| {
        for round in 0..rounds {
            let pages = (u64::from(cpu.0) + round) % 64 + 1;
            let Ok(area) = kernel.vmalloc.alloc(&VmRequest::new(pages * PAGE_SIZE)) else {
                continue;
            };
            let words = (pages * PAGE_SIZE / 8) as usize;
            for at in (0..words).step_by(512) {
                let value = u64::from(cpu.0) << 32 | at as u64;
                // SAFETY: the word is in the area, which is this CPU's alone.
                let word = unsafe { &*area.as_ptr::<AtomicU64>().add(at) };
                word.store(value, Ordering::Relaxed);
            }
            for at in (0..words).step_by(512) {
                let value = u64::from(cpu.0) << 32 | at as u64;
                // SAFETY: as above.
                let word = unsafe { &*area.as_ptr::<AtomicU64>().add(at) };
                assert_eq!(word.load(Ordering::Relaxed), value, "page {} of CPU {cpu}", at / 512);
            }
            kernel.vmalloc.free(area).unwrap_or_else(|error| panic!("{error}"));
            areas.fetch_add(1, Ordering::Relaxed);
            pages_used.fetch_add(pages, Ordering::Relaxed);
        }
    });
    assert_eq!(did, cpus.len());
    assert_eq!(areas.into_inner() as u64, rounds * cpus.len() as u64, "areas");
    assert_eq!(kernel.vmalloc.area_count(), count);
    let kept = before - free_by_zone(kernel).into_iter().sum::<u64>();
    let most = 4 * cpus.len() as u64;
    assert!(most < pages_used.into_inner() / 4, "too few areas to see what stays");
    assert!(kept <= most, "{kept} frames stay, {most} at most expected");
}

/// The boot CPU takes every third CPU off and puts it on again while the others allocate.
fn cpus_go_off_and_on_while_others_allocate(kernel: &Kernel) {
    let all = cpus::online(kernel.memory);
    let (boot, others) = all.split_first().expect("the boot CPU");
    let goes = |cpu: &CpuId| cpu.0 % 3 == 1;
    let (going, staying): (Vec<CpuId>, Vec<CpuId>) = others.iter().partition(|&cpu| goes(cpu));
    let owners = Owners::new(kernel);
    let before = free_by_zone(kernel);
    let working: Vec<CpuId> = staying.into_iter().chain([*boot]).collect();
    let each = OPERATIONS / 2 / all.len();
    let did = cpus::run_on(&working, &|cpu| match cpu == *boot {
        true => going.iter().for_each(|&cpu| {
            cpus::run_on(&[cpu], &|cpu| hammer(kernel, cpu, 50, &owners, |_| ()));
            cpus::take_off(kernel.memory, cpu).unwrap_or_else(|error| panic!("CPU {cpu}: {error}"));
            assert_eq!(cpus::run_on(&[cpu], &|cpu| panic!("CPU {cpu} is off")), 0);
            kernel.memory.drain_all();
            cpus::put_on(kernel, cpu).unwrap_or_else(|error| panic!("CPU {cpu}: {error}"));
        }),
        false => hammer(kernel, cpu, each, &owners, |_| ()),
    });
    assert_eq!(did, working.len());
    owners.expect_none();
    assert_eq!(cpus::online(kernel.memory), all);
    assert_eq!(free_by_zone(kernel), before, "free frames by zone");
}

fn a_cpu_that_goes_off_leaves_nothing_parked(kernel: &Kernel) {
    kernel.memory.drain_all();
    let free = || -> Vec<u64> { kernel.memory.zones().iter().map(|zone| zone.free()).collect() };
    let before = free();
    let parked = |cpu| -> u64 {
        kernel.memory.zones().iter().map(|zone| kernel.memory.parked(cpu, zone.id())).sum()
    };
    for &cpu in &cpus::online(kernel.memory)[1..] {
        cpus::run_on(&[cpu], &|_| {
            let block = kernel.memory.alloc(&Request::new(Order::ZERO)).expect("a frame");
            give_back(kernel.memory, block);
        });
        assert!(parked(cpu) > 0, "CPU {cpu} has parked nothing");
        cpus::take_off(kernel.memory, cpu).unwrap_or_else(|error| panic!("CPU {cpu}: {error}"));
        assert!(!kernel.memory.is_online(cpu));
        assert_eq!(parked(cpu), 0, "CPU {cpu}");
        assert_eq!(free(), before, "free frames without CPU {cpu}");
        cpus::put_on(kernel, cpu).unwrap_or_else(|error| panic!("CPU {cpu}: {error}"));
        assert_eq!(cpus::run_on(&[cpu], &|_| ()), 1, "CPU {cpu} takes work again");
    }
}

fn what_cannot_be_taken_off_or_put_on_is_refused(kernel: &Kernel) {
    let memory = kernel.memory;
    assert_eq!(cpus::take_off(memory, CpuId(0)), Err(cpus::CpuError::BootCpu));
    assert_eq!(cpus::put_on(kernel, CpuId(0)), Err(cpus::CpuError::On));
    assert_eq!(cpus::take_off(memory, CpuId(u16::MAX)), Err(cpus::CpuError::Off));
    assert_eq!(cpus::put_on(kernel, CpuId(u16::MAX)), Err(cpus::CpuError::Dead));
    let Some(&last) = cpus::online(memory).iter().skip(1).last() else { return };
    assert_eq!(cpus::put_on(kernel, last), Err(cpus::CpuError::On));
    cpus::run_on(&[last], &|cpu| {
        assert_eq!(cpus::take_off(memory, cpu), Err(cpus::CpuError::Own));
    });
    assert_eq!(cpus::take_off(memory, last), Ok(()));
    assert_eq!(cpus::take_off(memory, last), Err(cpus::CpuError::Off));
    assert_eq!(cpus::put_on(kernel, last), Ok(()));
}
