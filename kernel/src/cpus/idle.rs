//! What a CPU does when it has nothing to do: it sleeps, and looks whenever it is woken.

use nearmem_x86_64::{cpu, interrupts};

use super::{rest, work};
use crate::Memory;
use crate::kernel::memory;

/// Does what other CPUs asked this one for. With interrupts off.
pub(super) fn serve_requests() {
    if let Some(memory) = memory() {
        memory.serve_requests(&memory.pin());
    }
}

/// Where a CPU goes on when it has arrived, with interrupts off.
pub(super) extern "C" fn main() -> ! {
    // No CPU is started before.
    let memory = memory().expect("memory is up");
    come(memory);
    interrupts::enable();
    loop {
        work::do_what_is_left();
        if cpu::mailbox().shall_rest() {
            rest::until_wanted(memory);
        }
        interrupts::disable();
        memory.serve_requests(&memory.pin());
        if cpu::mailbox().find().is_none() && !cpu::mailbox().shall_rest() {
            cpu::sleep();
        } else {
            interrupts::enable();
        }
    }
}

/// From now on this CPU is asked for what it has parked, and takes work.
pub(super) fn come(memory: &Memory) {
    cpu::mailbox().open();
    memory.set_online(cpu::current());
}
