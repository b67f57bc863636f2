//! Random machines, and threads as their CPUs.

use std::sync::atomic::{AtomicUsize, Ordering};

use nearmem::CpuId;
use nearmem::alloc::MemorySubsystem;
use nearmem::sim::{SimMachine, SimPlatform};
use nearmem_checks::random::Random;

pub type Mm<'m> = MemorySubsystem<'m, SimPlatform>;

const MIB: u64 = 1 << 20;

/// A machine of one to three nodes: all kinds of zones, holes, edges that are not aligned, nodes
/// without memory and without CPUs.
pub fn random(random: &mut Random, cpus: u16) -> SimMachine {
    let nodes = 1 + random.below(3) as u16;
    let mut builder = SimMachine::builder();
    let mut left = cpus;
    for node in 0..nodes {
        let share = if node + 1 == nodes { left } else { random.below(left as usize + 1) as u16 };
        left -= share;
        // The lowest needs room for what all need.
        let pages = 256 * (4 + random.below(36) as u64) + random.below(512) as u64;
        let memory = if node > 0 && random.below(4) == 0 { 0 } else { pages << 12 };
        builder = builder.node(memory, share);
    }
    let mut at = 4096 * MIB;
    for _ in 0..random.below(4) {
        let start = at + ((random.below(3000) as u64) << 12);
        at = start + ((1 + random.below(6000) as u64) << 12);
        builder = builder.range(random.below(nodes.into()) as u16, start, at);
    }
    builder.build()
}

/// Runs `work` on all CPUs at once; each serves requests until the last one is through, and is
/// offline then. Gives what the CPUs made. Afterwards CPU 0 is online, as at the start.
pub fn on_all_cpus<R: Send>(
    machine: &SimMachine,
    mm: &Mm<'_>,
    work: impl Fn(CpuId) -> R + Sync,
) -> Vec<R> {
    let cpus = machine.cpus();
    let busy = AtomicUsize::new(usize::from(cpus));
    (0..cpus).for_each(|cpu| mm.set_online(CpuId(cpu)));
    let on = |cpu| {
        machine.run_on(cpu, || {
            let result = work(cpu);
            busy.fetch_sub(1, Ordering::SeqCst);
            while busy.load(Ordering::SeqCst) > 0 {
                mm.serve_requests(&mm.pin());
                std::thread::yield_now();
            }
            mm.set_offline(&mm.pin());
            result
        })
    };
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cpus).map(|cpu| scope.spawn(move || on(CpuId(cpu)))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    mm.set_online(CpuId(0));
    results
}
