//! The end of the kernel on all CPUs: one reports, the others stand still.
//!
//! In: a CPU that cannot go on. Out: it is the only one that runs, so that it may break locks; a
//! second one that cannot go on either stops like the rest.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use crate::apic::{self, Message};
use crate::cpu::{self, PerCpu};
use crate::{exit, pit};

/// Who ends the kernel: a CPU's number, or nobody.
static ENDED_BY: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = u32::MAX;

/// How long the others have to stop: they may be slow, but not for ever.
const PATIENCE: Duration = Duration::from_secs(1);

/// Stops all other CPUs, whatever they are at, and returns when they stand still, or are taken for
/// dead. Does not return when another CPU was here first. May be called again by the one that ends.
pub fn others() {
    let this = u32::from(cpu::current().0);
    // Relaxed: nothing else is passed on by the word.
    let first = ENDED_BY.compare_exchange(NOBODY, this, Ordering::Relaxed, Ordering::Relaxed);
    match first {
        Ok(_) => {}
        Err(by) if by == this => return,
        Err(_) => stop(),
    }
    let others = || cpu::all_blocks().filter(|other| u32::from(other.id.0) != this);
    let running = || others().filter(|other| other.has_started() && !is_still(other));
    running().for_each(|other| apic::send(other.apic, Message::Nmi));
    if running().next().is_some() {
        pit::wait_until(PATIENCE, || running().next().is_none());
    }
}

fn is_still(cpu: &PerCpu) -> bool {
    // Acquire: what it wrote comes before what is done when it stands still.
    cpu.stopped.load(Ordering::Acquire)
}

/// On a non-maskable interrupt: stands still for good if another CPU ends the kernel.
pub(crate) fn here_if_asked() {
    let by = ENDED_BY.load(Ordering::Relaxed);
    if by != NOBODY && by != u32::from(cpu::current().0) {
        stop();
    }
}

fn stop() -> ! {
    cpu::block().stopped.store(true, Ordering::Release);
    exit::halt()
}
