//! The registers of this CPU's APIC: in memory, or MSRs. The numbers are those of x2APIC (Intel SDM
//! volume 3, table 11-6); in memory a register is at 16 times its number (table 11-1).

use nearmem::VirtAddr;
use x86_64::registers::model_specific::Msr;

use super::command::Command;

/// The registers that are used.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Register {
    TaskPriority = 0x08,
    EndOfInterrupt = 0x0b,
    Spurious = 0x0f,
    Command = 0x30,
    /// In memory only; as MSR the command has all 64 bits.
    CommandHigh = 0x31,
    Timer = 0x32,
    Lint0 = 0x35,
    Error = 0x37,
}

/// The MSR of register 0.
const FIRST_MSR: u32 = 0x800;
/// Bit 12 of the command register in memory: the last command is not sent yet.
const PENDING: u32 = 1 << 12;
/// Looks at it before it is taken for lost.
const PATIENCE: u32 = 1 << 20;

/// How they are reached. The same address or MSR is each CPU's own APIC.
#[derive(Clone, Copy)]
pub(super) enum Registers {
    /// From here on in memory.
    Memory(VirtAddr),
    /// By MSR.
    Msr,
}

impl Registers {
    /// Writes a register.
    pub fn write(self, register: Register, value: u32) {
        match self {
            // SAFETY: the page holds the APIC's registers (`set_up`), and all that are named may be
            // written with any value that this module writes.
            Registers::Memory(at) => unsafe { place(at, register).write_volatile(value) },
            // SAFETY: as above; the CPU is in x2APIC mode.
            Registers::Msr => unsafe { msr(register).write(value.into()) },
        }
    }

    /// Sends a command, when the one before has gone. Not to be interrupted by another.
    pub fn command(self, command: Command) {
        match self {
            Registers::Memory(at) => {
                for _ in 0..PATIENCE {
                    // SAFETY: as in `write`; reading has no side effect.
                    let low = unsafe { place(at, Register::Command).read_volatile() };
                    if low & PENDING == 0 {
                        break;
                    }
                    core::hint::spin_loop();
                }
                self.write(Register::CommandHigh, command.to.0 << 24);
                self.write(Register::Command, command.low());
            }
            Registers::Msr => {
                let value = u64::from(command.to.0) << 32 | u64::from(command.low());
                // Writes of x2APIC registers do not wait for stores before them (Intel SDM volume
                // 3, 11.12.3): what the message is about has to be seen first.
                core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
                // SAFETY: the CPU is in x2APIC mode, and the register takes any command.
                unsafe { msr(Register::Command).write(value) }
            }
        }
    }
}

fn place(at: VirtAddr, register: Register) -> *mut u32 {
    (at + u64::from(register as u8) * 16).as_ptr()
}

fn msr(register: Register) -> Msr {
    Msr::new(FIRST_MSR + register as u32)
}
