//! Several CPUs at once, each a thread.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nearmem::alloc::{AllocError, Policy, Request};
use nearmem::sim::SimMachine;
use nearmem::{CpuId, NodeId};

use crate::machines::{MIB, Mm, PAGE, order, topologies, unused, up, without_marks};

/// Runs `work` on all CPUs at once; each serves requests until the last one is through, and is
/// offline then.
fn on_all_cpus(machine: &SimMachine, mm: &Mm<'_>, work: impl Fn(CpuId) + Sync) {
    let cpus = machine.cpus();
    let busy = AtomicUsize::new(usize::from(cpus));
    (0..cpus).for_each(|cpu| mm.set_online(CpuId(cpu)));
    std::thread::scope(|scope| {
        for cpu in (0..cpus).map(CpuId) {
            let (busy, work) = (&busy, &work);
            scope.spawn(move || {
                machine.run_on(cpu, || {
                    work(cpu);
                    busy.fetch_sub(1, Ordering::SeqCst);
                    while busy.load(Ordering::SeqCst) > 0 {
                        mm.serve_requests(&mm.pin());
                        std::thread::yield_now();
                    }
                    mm.set_offline(&mm.pin());
                });
            });
        }
    });
    assert!((0..cpus).all(|cpu| !mm.is_online(CpuId(cpu))));
}

#[test]
fn cpus_that_exhaust_memory_together_get_every_frame_once() {
    for (name, machine) in topologies() {
        let map = machine.map();
        let mm = machine.run_on(CpuId(0), || up(&machine, &map));
        without_marks(&mm);
        let all = Mutex::new(Vec::new());
        on_all_cpus(&machine, &mm, |_| {
            let taken: Vec<_> = std::iter::from_fn(|| mm.alloc(&PAGE).ok()).collect();
            all.lock().unwrap().extend(taken);
        });
        let all = all.into_inner().unwrap();
        let distinct: HashSet<_> = all.iter().map(|block| block.pfn()).collect();
        assert_eq!(distinct.len(), all.len(), "{name}");
        assert_eq!(all.len() as u64 + mm.pageset_pages() + unused(&mm), mm.managed(), "{name}");
        // A CPU gives up after it saw the others' pagesets empty; what they park after that is
        // little.
        assert_eq!(mm.zones().iter().map(|zone| mm.parked_in(zone.id())).sum::<u64>(), 0);
        machine.run_on(CpuId(0), || all.into_iter().for_each(|block| mm.free(block).unwrap()));
    }
}

/// Allocates and frees on every node from every CPU, blocks handed on to other CPUs, while all
/// drain each other.
#[test]
fn nothing_is_lost_under_fire() {
    let machine = SimMachine::builder().node(24 * MIB, 2).node(16 * MIB, 1).node(0, 1).build();
    let map = machine.map();
    let mm = machine.run_on(CpuId(0), || {
        let mm = up(&machine, &map);
        mm.drain_all();
        mm
    });
    let before = unused(&mm);
    let exchange = Mutex::new(Vec::new());
    on_all_cpus(&machine, &mm, |cpu| {
        let mut seed = u64::from(cpu.0) + 1;
        let mut own = Vec::new();
        for round in 0..3000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let dice = seed >> 40;
            match dice % 8 {
                0..=3 => {
                    let wanted =
                        if dice % 3 == 0 { order((dice >> 3) as u8 % 6) } else { order(0) };
                    let node = NodeId((dice >> 6) as u16 % 3);
                    match mm.alloc(&Request::new(wanted).on(Policy::Preferred(node))) {
                        Ok(block) => own.push(block),
                        Err(error) => assert_ne!(error, AllocError::NoZone),
                    }
                }
                4 | 5 if !own.is_empty() => {
                    let block = own.swap_remove(dice as usize / 8 % own.len());
                    mm.free(block).unwrap();
                }
                6 => {
                    let mut exchange = exchange.lock().unwrap();
                    exchange.append(&mut own);
                    let half = exchange.len() / 2;
                    own.extend(exchange.drain(..half));
                }
                _ if round % 50 == 0 => mm.drain_all(),
                _ => {
                    mm.serve_requests(&mm.pin());
                }
            }
        }
        own.into_iter().for_each(|block| mm.free(block).unwrap());
    });
    machine.run_on(CpuId(0), || {
        for block in exchange.into_inner().unwrap() {
            mm.free(block).unwrap();
        }
        mm.drain_all();
    });
    let mut sum = nearmem::alloc::NumaCounters::default();
    for node in 0..3 {
        let counters = mm.node_counters(NodeId(node));
        assert_eq!(counters.hit + counters.miss, counters.local + counters.other);
        sum += counters;
    }
    assert_eq!(sum.miss, sum.foreign);
    assert_eq!(unused(&mm), before);
    for zone in mm.zones() {
        assert_eq!(zone.leaked(), 0);
        assert_eq!(mm.parked_in(zone.id()), 0);
    }
}

/// A CPU that drains gets what an idle CPU has parked.
#[test]
fn an_idle_cpu_gives_its_frames_when_it_is_asked() {
    let machine = SimMachine::builder().node(32 * MIB, 2).build();
    let map = machine.map();
    let mm = machine.run_on(CpuId(0), || up(&machine, &map));
    let parked = AtomicUsize::new(0);
    let drained = AtomicUsize::new(0);
    on_all_cpus(&machine, &mm, |cpu| {
        if cpu == CpuId(1) {
            let block = mm.alloc(&PAGE).unwrap();
            let zone = block.zone();
            mm.free(block).unwrap();
            assert!(mm.parked(cpu, zone) > 0);
            parked.store(1, Ordering::SeqCst);
            while drained.load(Ordering::SeqCst) == 0 {
                mm.serve_requests(&mm.pin());
                std::thread::yield_now();
            }
            assert_eq!(mm.parked(cpu, zone), 0);
        } else {
            while parked.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            mm.drain_all();
            drained.store(1, Ordering::SeqCst);
        }
    });
}
