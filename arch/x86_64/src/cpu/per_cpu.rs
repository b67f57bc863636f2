//! The block of data that each CPU finds behind its GS register.

use core::arch::asm;
use core::mem::offset_of;
use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use nearmem::sync::LocalPointer;
use nearmem::{CpuId, VirtAddr};
use x86_64::registers::model_specific::GsBase;

use super::gdt::Segments;
use super::stacks::exception_stack_tops;
use crate::take_once::TakeOnce;

/// What one CPU has for itself.
#[repr(C)]
struct PerCpu {
    /// Where it is itself.
    this: AtomicPtr<PerCpu>,
    /// Its number; never changes while the CPU runs.
    id: CpuId,
    segments: Segments,
    /// The memory subsystem's.
    memory: LocalPointer,
}

static BOOT_CPU: TakeOnce<PerCpu> = TakeOnce::new(PerCpu {
    this: AtomicPtr::new(null_mut()),
    id: CpuId(0),
    segments: Segments::new(),
    memory: LocalPointer::null(),
});

/// Gives the boot CPU its block and its segments.
pub(super) fn init_boot_cpu() {
    let cpu = BOOT_CPU.take().expect("the boot CPU is set up once");
    let block = &raw mut *cpu;
    cpu.this.store(block, Ordering::Relaxed);
    cpu.segments.load(exception_stack_tops());
    // After the segments: loading a segment register clears the base.
    GsBase::write(x86_64::VirtAddr::from_ptr(block));
}

/// Where the blocks of the CPUs lie that have one.
pub fn blocks() -> impl Iterator<Item = (CpuId, Range<VirtAddr>)> {
    let at = VirtAddr((&raw const BOOT_CPU).addr() as u64);
    core::iter::once((CpuId(0), at..at + size_of_val(&BOOT_CPU) as u64))
}

/// Which CPU this is. The answer stays true only as long as the caller cannot be moved to another
/// CPU: with interrupts off, or as long as nothing moves anybody.
#[inline]
pub fn current() -> CpuId {
    let id: u32;
    // SAFETY: GS points to this CPU's block from before the kernel's main function on; the read
    // has no side effect. It is not `pure`: it may differ after a move to another CPU.
    unsafe {
        asm!(
            "movzx {id:e}, word ptr gs:[{offset}]",
            id = out(reg) id,
            offset = const offset_of!(PerCpu, id),
            options(nostack, preserves_flags, readonly),
        );
    }
    CpuId(id as u16)
}

/// The word that this CPU keeps for the memory subsystem.
#[inline]
pub fn memory_word() -> &'static LocalPointer {
    let block: *const PerCpu;
    // SAFETY: as in `current`.
    unsafe {
        asm!(
            "mov {block}, qword ptr gs:[{offset}]",
            block = out(reg) block,
            offset = const offset_of!(PerCpu, this),
            options(nostack, preserves_flags, readonly),
        );
    }
    // SAFETY: the block is a static, and after the CPU's start nobody has it mutably.
    unsafe { &(*block).memory }
}

const _: () = assert!(size_of::<CpuId>() == 2);
