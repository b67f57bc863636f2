//! CPUs taken off and put on again while the machine runs.

use core::fmt;

use nearmem::CpuId;
use nearmem_x86_64::{cpu, interrupts, remote};

use super::{idle, start};
use crate::{Kernel, Memory};

/// Why a CPU cannot be taken off or put on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuError {
    /// The boot CPU stays on.
    BootCpu,
    /// A CPU does not take itself off.
    Own,
    /// It is not on.
    Off,
    /// It is on.
    On,
    /// It was started and did not come, or cannot be started.
    Dead,
}

impl fmt::Display for CpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CpuError::BootCpu => "the boot CPU stays on",
            CpuError::Own => "a CPU does not take itself off",
            CpuError::Off => "the CPU is off",
            CpuError::On => "the CPU is on",
            CpuError::Dead => "the CPU does not come",
        })
    }
}

/// Takes a CPU off: what it has parked returns to the zones, nobody waits for it any more, and it
/// sleeps. Work that it was left comes first. Returns when it is off.
///
/// # Errors
/// It cannot be; nothing has changed.
pub fn take_off(memory: &Memory, cpu: CpuId) -> Result<(), CpuError> {
    if cpu == CpuId(0) {
        return Err(CpuError::BootCpu);
    }
    if cpu == cpu::current() {
        return Err(CpuError::Own);
    }
    let mailbox = cpu::mailbox_of(cpu).filter(|_| memory.is_online(cpu)).ok_or(CpuError::Off)?;
    mailbox.ask_to_rest(true);
    remote::wake(cpu);
    while remote::takes_calls(cpu) {
        core::hint::spin_loop();
    }
    Ok(())
}

/// Puts a CPU on that was taken off, or starts one that never was. Returns when it is on.
///
/// # Errors
/// It is on, or does not come.
pub fn put_on(kernel: &Kernel, cpu: CpuId) -> Result<(), CpuError> {
    if kernel.memory.is_online(cpu) {
        return Err(CpuError::On);
    }
    match cpu::mailbox_of(cpu) {
        None => start::start(kernel, &[cpu]),
        Some(_) if !cpu::has_started(cpu) => return Err(CpuError::Dead),
        Some(mailbox) => {
            mailbox.ask_to_rest(false);
            remote::wake(cpu);
            while !kernel.memory.is_online(cpu) {
                core::hint::spin_loop();
            }
        }
    }
    if kernel.memory.is_online(cpu) { Ok(()) } else { Err(CpuError::Dead) }
}

/// Rests as long as this CPU shall, unless work was left before it was asked.
pub(super) fn until_wanted(memory: &Memory) {
    if !cpu::mailbox().close() {
        return;
    }
    memory.set_offline(&memory.pin());
    remote::leave();
    loop {
        interrupts::disable();
        if !cpu::mailbox().shall_rest() {
            break;
        }
        cpu::sleep();
    }
    remote::join();
    idle::come(memory);
    interrupts::enable();
}
