//! Starts the other CPUs, all at once, and says of each what came of it.

use alloc::vec::Vec;

use nearmem::alloc::{FrameBlock, Request};
use nearmem::finding::{Finding, Findings as _, Kind};
use nearmem::ids::NodeSet;
use nearmem::zone::ZoneKind;
use nearmem::{CpuId, Order};
use nearmem_x86_64::apic::{self, Mode};
use nearmem_x86_64::smp::{self, Trampoline};
use nearmem_x86_64::{cpu, cpuid, interrupts, pic, println, remote};
use spin::Once;

use super::{area, idle};
use crate::findings::Report;
use crate::{Kernel, Memory};

/// What it takes to start a CPU, now or later.
struct Starter {
    mode: Mode,
    trampoline: Trampoline,
}

static STARTER: Once<Starter> = Once::new();

/// Lets interrupts in on the boot CPU, and starts all other present CPUs that `maxcpus=` lets.
pub(super) fn others(kernel: &Kernel) {
    let present = kernel.map.cpus().len();
    pic::mask();
    let mode = apic::set_up(&cpuid::this_cpu(), kernel.memory.platform().tables());
    interrupts::on_wake(idle::serve_requests);
    let Some(mode) = mode else {
        println!("CPUs: 1 of {present} is up: it has no local APIC");
        return;
    };
    remote::join();
    interrupts::enable();
    if present == 1 {
        return;
    }
    match starter(kernel, mode) {
        Ok(starter) => STARTER.call_once(|| starter),
        Err(why) => {
            println!("CPUs: 1 of {present} is up: {why}");
            return;
        }
    };
    let most = kernel.options.max_cpus.unwrap_or(u64::MAX).clamp(1, present as u64) as u16;
    let cpus: Vec<CpuId> = (1..most).map(CpuId).collect();
    start(kernel, &cpus);
    let up = online(kernel.memory);
    let nodes: NodeSet = up.iter().map(|&cpu| kernel.map.node_of_cpu(cpu)).collect();
    println!(
        "CPUs: {} of {present} are up, on nodes {nodes}; interrupts by {}",
        up.len(),
        mode.name()
    );
    if usize::from(most) < present {
        println!("CPUs: maxcpus={most}: {} are not started", present - usize::from(most));
    }
}

/// The CPUs that are up.
pub fn online(memory: &Memory) -> Vec<CpuId> {
    let present = memory.map().cpus().len() as u16;
    (0..present).map(CpuId).filter(|&cpu| memory.is_online(cpu)).collect()
}

/// Starts CPUs that were not started before. Returns when each is up, or given up.
pub(super) fn start(kernel: &Kernel, cpus: &[CpuId]) {
    let Some(Starter { mode, trampoline }) = STARTER.get() else { return };
    let ready: Vec<CpuId> =
        cpus.iter().copied().filter(|&cpu| prepare(kernel, cpu, *mode)).collect();
    smp::start(trampoline, &ready);
    for cpu in ready {
        let (apic, node) = (kernel.map.cpus()[cpu.index()].apic.0, kernel.map.node_of_cpu(cpu));
        if cpu::has_started(cpu) {
            // It is on its way to its idle loop.
            while !kernel.memory.is_online(cpu) {
                core::hint::spin_loop();
            }
            println!("CPU {cpu} is up: APIC {apic:#04x}, node {node}");
        } else {
            Report.add(Finding::new(Kind::CpuDidNotCome { cpu, apic, node }));
        }
    }
}

/// Gives a CPU its area; says whether it can be started.
fn prepare(kernel: &Kernel, cpu: CpuId, mode: Mode) -> bool {
    let Some(present) = kernel.map.cpus().get(cpu.index()) else { return false };
    if !mode.reaches(present.apic) {
        println!(
            "CPU {cpu} (APIC {:#04x}) is not started: its id takes x2APIC mode",
            present.apic.0
        );
        return false;
    }
    match area::make(kernel.memory, cpu) {
        Ok((area, node)) => {
            if node != present.node {
                println!("CPU {cpu} of node {} has its area on node {node}", present.node);
            }
            // SAFETY: it was just made, once for each CPU.
            unsafe { cpu::prepare(area, present.apic) };
            true
        }
        Err(error) => {
            println!("warning: CPU {cpu} is not started: {error}");
            false
        }
    }
}

/// Fills the low page.
fn starter(kernel: &Kernel, mode: Mode) -> Result<Starter, &'static str> {
    let page = kernel.low_page.ok_or("no page below 1 MiB is free for the others to begin in")?;
    if cpu::areas().next().is_none() {
        return Err("the boot CPU has no area");
    }
    let ids: Vec<u32> = kernel.map.cpus().iter().map(|cpu| cpu.apic.0).collect();
    let low = Request::new(Order::ZERO).limit(ZoneKind::Dma32);
    let frames = || kernel.memory.alloc(&low).ok().map(FrameBlock::leak).map(|pfn| pfn.addr());
    let tables = kernel.memory.platform().tables();
    // SAFETY: the page was reserved for this before the hand-over; the frames are leaked.
    let trampoline = unsafe { Trampoline::new(page, tables, frames, ids.leak(), idle::main) };
    let trampoline = trampoline.map_err(|_| "no memory for the others' first page tables")?;
    Ok(Starter { mode, trampoline })
}
