//! Control registers: what the CPU can do is switched on, whichever door it came through.

use x86_64::registers::control::{Cr0, Cr0Flags, Cr4, Cr4Flags};
use x86_64::registers::model_specific::{Efer, EferFlags};

use crate::cpuid;

/// Write protection for ring 0, too; no-execute, global translations and machine checks, if the CPU
/// has them.
pub(super) fn switch_on() {
    let cpu = cpuid::this_cpu();
    // SAFETY: code and data of the kernel are used as their sections say, so protection takes
    // nothing away; the boot page tables have neither no-execute nor global entries; a machine
    // check that is not caught would stop the machine silently.
    unsafe {
        Cr0::update(|flags| flags.insert(Cr0Flags::WRITE_PROTECT | Cr0Flags::NUMERIC_ERROR));
        Efer::update(|flags| flags.set(EferFlags::NO_EXECUTE_ENABLE, cpu.no_execute));
        Cr4::update(|flags| {
            flags.set(Cr4Flags::PAGE_GLOBAL, cpu.global_pages);
            flags.set(Cr4Flags::MACHINE_CHECK_EXCEPTION, cpu.machine_check);
        });
    }
}
