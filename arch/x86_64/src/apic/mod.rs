//! The local APIC of each CPU: interrupts from one CPU to another (Intel SDM volume 3, chapter 11).
//!
//! In: what the CPU says of itself, and a page for its registers. Out: a CPU that takes interrupts,
//! and [`send`], which makes one on another CPU. Interrupts of devices are all masked.
//!
//! With x2APIC the registers are MSRs and ids have 32 bits; QEMU's translator has none before
//! version 9, so that mode is untested there.

mod command;
mod registers;

use nearmem::platform::PhysMap;
use nearmem::{ApicId, PhysAddr};
use spin::Once;
use x86_64::registers::model_specific::Msr;

use crate::cpuid::CpuFacts;
use crate::interrupts::{InterruptsOff, Vector};
use crate::paging::KernelPageTables;
use command::Command;
use registers::{Register, Registers};

pub use command::Message;

/// The MSR that says where the registers are and in which mode (Intel SDM volume 4, table 2-2).
const APIC_BASE: u32 = 0x1b;
/// Bits of it: registers are MSRs; switched on; the address.
const X2APIC: u64 = 1 << 10;
const ON: u64 = 1 << 11;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
/// Bit 8 of the spurious-interrupt register: switched on, too.
const SOFTWARE_ON: u32 = 1 << 8;
/// Bit 16 of an entry of the local vector table: no interrupt.
const MASKED: u32 = 1 << 16;
/// The highest id that an 8-bit destination can name; 255 is all CPUs.
const LARGEST_XAPIC: u32 = 254;

static REGISTERS: Once<Registers> = Once::new();

/// How the registers are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// In memory; ids have 8 bits.
    XApic,
    /// By MSR; ids have 32 bits.
    X2Apic,
}

impl Mode {
    /// As people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::XApic => "xAPIC",
            Mode::X2Apic => "x2APIC",
        }
    }

    /// Whether a CPU with this id can be sent anything.
    pub const fn reaches(self, id: ApicId) -> bool {
        matches!(self, Mode::X2Apic) || id.0 <= LARGEST_XAPIC
    }
}

/// Finds out how APICs are reached, and switches this CPU's on. `None`: the CPU has none, or there
/// is no page left to map it. To be called once, on the boot CPU.
pub fn set_up<M: PhysMap>(cpu: &CpuFacts, tables: &KernelPageTables<M>) -> Option<Mode> {
    if !cpu.apic {
        return None;
    }
    let mode = if cpu.x2apic { Mode::X2Apic } else { Mode::XApic };
    let registers = match mode {
        Mode::X2Apic => Registers::Msr,
        Mode::XApic => {
            // SAFETY: the CPU has an APIC, hence this MSR; at the address are its registers.
            let at = unsafe { tables.map_mmio(PhysAddr(Msr::new(APIC_BASE).read() & ADDRESS)) }?;
            Registers::Memory(at)
        }
    };
    REGISTERS.call_once(|| registers);
    switch_on();
    Some(mode)
}

/// Switches this CPU's APIC on: messages of other CPUs only, neither the timer nor pins but NMI.
pub(crate) fn switch_on() {
    let Some(registers) = REGISTERS.get() else { return };
    let mut base = Msr::new(APIC_BASE);
    let mode = if matches!(registers, Registers::Msr) { X2APIC } else { 0 };
    // SAFETY: `set_up` found an APIC and that it has this mode; all CPUs are alike. The modes are
    // gone through in their order: off, xAPIC, x2APIC.
    unsafe {
        let value = base.read() | ON;
        base.write(value);
        base.write(value | mode);
    }
    registers.write(Register::TaskPriority, 0);
    for pin in [Register::Timer, Register::Lint0, Register::Error] {
        registers.write(pin, MASKED);
    }
    registers.write(Register::Spurious, SOFTWARE_ON | Vector::Spurious as u32);
}

/// Sends a message to the CPU with this id. Nothing happens when no APIC was set up.
pub fn send(to: ApicId, message: Message) {
    let Some(registers) = REGISTERS.get() else { return };
    // A handler that sends something itself must not come between the halves of a command.
    let _interrupts = InterruptsOff::new();
    registers.command(Command { to, message });
}

/// Says that the interrupt is handled.
pub(crate) fn end_of_interrupt() {
    if let Some(registers) = REGISTERS.get() {
        registers.write(Register::EndOfInterrupt, 0);
    }
}
