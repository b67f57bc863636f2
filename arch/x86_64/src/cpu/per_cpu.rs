//! The block of data that each CPU finds behind its GS register: the boot CPU's in the kernel image
//! at first, then each one's in its area.

use core::arch::asm;
use core::mem::offset_of;
use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use nearmem::ids::MAX_CPUS;
use nearmem::sync::LocalPointer;
use nearmem::{CpuId, PAGE_SIZE, VirtAddr};
use x86_64::registers::model_specific::GsBase;

use super::area::{Area, BLOCK_PAGES, EXCEPTION_STACKS};
use super::gdt::Segments;
use super::idt::Idt;
use super::stacks::exception_stack_tops;
use crate::take_once::TakeOnce;

/// What one CPU has for itself.
#[repr(C)]
struct PerCpu {
    /// Where it is itself.
    this: AtomicPtr<PerCpu>,
    /// Its number; never changes while the CPU runs.
    id: CpuId,
    /// What the guards of `interrupts` count; see there.
    guards: AtomicU32,
    /// The memory subsystem's.
    memory: LocalPointer,
    segments: Segments,
    idt: Idt,
}

const _: () = assert!(size_of::<PerCpu>() as u64 <= BLOCK_PAGES * PAGE_SIZE);
const _: () = assert!(size_of::<CpuId>() == 2);

static BOOT_CPU: TakeOnce<PerCpu> = TakeOnce::new(PerCpu::new(CpuId(0)));

/// Which CPUs have their area.
static HAS_AREA: [AtomicBool; MAX_CPUS] = [const { AtomicBool::new(false) }; MAX_CPUS];

impl PerCpu {
    const fn new(id: CpuId) -> PerCpu {
        PerCpu {
            this: AtomicPtr::new(null_mut()),
            id,
            guards: AtomicU32::new(0),
            memory: LocalPointer::null(),
            segments: Segments::new(),
            idt: Idt::new(),
        }
    }

    /// Makes this CPU use the block, and these stacks for exceptions.
    fn load(&'static mut self, stacks: [VirtAddr; EXCEPTION_STACKS]) {
        let block = &raw mut *self;
        self.this.store(block, Ordering::Relaxed);
        self.segments.load(stacks);
        // After the segments: loading a segment register clears the base.
        GsBase::write(x86_64::VirtAddr::from_ptr(block));
        self.idt.load();
    }
}

/// Gives the boot CPU its block in the image.
pub(super) fn init_boot_cpu() {
    let cpu = BOOT_CPU.take().expect("the boot CPU is set up once");
    cpu.load(exception_stack_tops());
}

/// Makes the CPU that this runs on the owner of an area.
///
/// # Safety
/// All pages of the area are mapped, and nobody has used them. This CPU runs with interrupts off,
/// without a guard that says so and without a token, as the CPU whose area it is.
pub(super) unsafe fn move_to(area: Area) {
    let block: *mut PerCpu = area.block().start.as_ptr();
    // SAFETY: the block is mapped, page aligned and nobody else's; it becomes a `PerCpu` before
    // the reference is made, and stays one for good.
    let block = unsafe {
        block.write(PerCpu::new(area.cpu()));
        &mut *block
    };
    block.load(area.exception_stack_tops());
    // Release: who sees it sees the area in use.
    HAS_AREA[area.cpu().index()].store(true, Ordering::Release);
}

/// The areas of the CPUs that have one.
pub fn areas() -> impl Iterator<Item = Area> + Clone {
    let has = |area: &Area| HAS_AREA[area.cpu().index()].load(Ordering::Acquire);
    (0..MAX_CPUS as u16).map_while(|cpu| Area::of(CpuId(cpu))).filter(has)
}

/// Where the blocks of the CPUs lie that have one.
pub fn blocks() -> impl Iterator<Item = (CpuId, Range<VirtAddr>)> {
    let at = VirtAddr((&raw const BOOT_CPU).addr() as u64);
    core::iter::once((CpuId(0), at..at + size_of_val(&BOOT_CPU) as u64))
        .chain(areas().map(|area| (area.cpu(), area.block())))
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
    // SAFETY: the block stays for good, and after the CPU's start nobody has it mutably.
    unsafe { &(*block).memory }
}

/// What this CPU's interrupt guards count. For a caller with interrupts off.
#[inline]
pub(crate) fn guards() -> u32 {
    let guards: u32;
    // SAFETY: as in `current`.
    unsafe {
        asm!(
            "mov {guards:e}, dword ptr gs:[{offset}]",
            guards = out(reg) guards,
            offset = const offset_of!(PerCpu, guards),
            options(nostack, preserves_flags, readonly),
        );
    }
    guards
}

/// Writes it. For a caller with interrupts off.
#[inline]
pub(crate) fn set_guards(guards: u32) {
    // SAFETY: GS points to this CPU's block, whose word only this CPU touches, with interrupts off.
    unsafe {
        asm!(
            "mov dword ptr gs:[{offset}], {guards:e}",
            guards = in(reg) guards,
            offset = const offset_of!(PerCpu, guards),
            options(nostack, preserves_flags),
        );
    }
}
