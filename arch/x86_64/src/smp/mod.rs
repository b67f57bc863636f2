//! Starting the other CPUs (application processors) by INIT and SIPI (Intel SDM volume 3, 9.4).
//!
//! In: prepared areas, a page below 1 MiB, and what a CPU shall go on with. Out: CPUs in their
//! areas, with descriptor tables, page tables and APIC as the boot CPU has them.
//!
//! ```text
//! trampoline   from real mode to 64-bit code, in the low page
//! arrive       in the kernel image: which CPU is this? its stack, its block, its APIC
//! ```
//!
//! All that are named are started at once; none waits for another.

mod arrive;
mod trampoline;

use core::time::Duration;

use nearmem::CpuId;

use crate::apic::{self, Message};
use crate::{cpu, pit, remote};
pub use trampoline::Trampoline;

/// From INIT to the first SIPI (Intel SDM volume 3, 9.4.4.1).
const AFTER_INIT: Duration = Duration::from_millis(10);
/// From the first SIPI to the second.
const AFTER_SIPI: Duration = Duration::from_micros(200);
/// How long to wait for the next CPU to arrive. On a host with few CPUs they take turns.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts CPUs and waits until each has arrived or none has for 5 seconds; those that have not by
/// then never will. [`remote::takes_calls`] says of each which it was. Others than those that
/// [`cpu::prepare`] was called for, and those that have been started before, are left out.
pub fn start(trampoline: &Trampoline, cpus: &[CpuId]) {
    let called = || {
        let blocks = cpus.iter().filter_map(|&cpu| cpu::block_of(cpu));
        blocks.filter(|block| block.is_called())
    };
    cpus.iter().filter_map(|&cpu| cpu::block_of(cpu)).for_each(|block| block.call());
    let send = |message| called().for_each(|block| apic::send(block.apic, message));
    send(Message::Init);
    pit::wait(AFTER_INIT);
    let begin = Message::Start { page: trampoline.page() };
    send(begin);
    pit::wait_until(AFTER_SIPI, || called().next().is_none());
    // The first may be lost; a CPU that runs ignores the second.
    send(begin);
    loop {
        let left = called().count();
        if left == 0 || !pit::wait_until(PATIENCE, || called().count() < left) {
            break;
        }
    }
    called().for_each(|block| block.give_up());
    // One that has arrived joins at once.
    let arrived =
        cpus.iter().filter_map(|&cpu| cpu::block_of(cpu)).filter(|block| block.has_started());
    for block in arrived {
        while !remote::takes_calls(block.id) {
            core::hint::spin_loop();
        }
    }
}
