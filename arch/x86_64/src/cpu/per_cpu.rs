//! The block of data that each CPU finds behind its GS register: the boot CPU's in the kernel image
//! at first, then each one's in its area.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, Ordering};

use nearmem::alloc::request_word::RequestWord;
use nearmem::ids::MAX_CPUS;
use nearmem::sync::LocalPointer;
use nearmem::{ApicId, CpuId, PAGE_SIZE, VirtAddr};
use x86_64::registers::model_specific::GsBase;

use super::area::{Area, BLOCK_PAGES, EXCEPTION_STACKS};
use super::control;
use super::gdt::Segments;
use super::idt::Idt;
use super::mailbox::Mailbox;
use super::stacks::exception_stack_tops;
use crate::take_once::TakeOnce;

/// What one CPU has for itself.
#[repr(C)]
pub(crate) struct PerCpu {
    /// Where it is itself.
    this: AtomicPtr<PerCpu>,
    /// Its number; never changes while the CPU runs.
    pub(crate) id: CpuId,
    /// What the guards of `interrupts` count; see there.
    guards: AtomicU32,
    /// The memory subsystem's.
    memory: LocalPointer,
    /// What others send interrupts to.
    pub(crate) apic: ApicId,
    /// What others call this CPU for (`remote`).
    pub(crate) calls: RequestWord,
    takes_calls: AtomicBool,
    /// What others leave for it.
    pub(super) mailbox: Mailbox,
    /// Whether it stands still for good (`stop`).
    pub(crate) stopped: AtomicBool,
    /// How far its start is: one of the constants below.
    start: AtomicU8,
    /// Only the CPU itself touches them, when it begins to use the block; afterwards they are the
    /// hardware's.
    tables: UnsafeCell<Tables>,
}

/// What the CPU is told of by address.
struct Tables {
    segments: Segments,
    idt: Idt,
}

// SAFETY: `tables` is as its comment says; all else is atomic or does not change.
unsafe impl Sync for PerCpu {}

const _: () = assert!(size_of::<PerCpu>() as u64 <= BLOCK_PAGES * PAGE_SIZE);
const _: () = assert!(size_of::<CpuId>() == 2);

/// Not called yet.
const ASLEEP: u8 = 0;
/// Called: it may arrive at any moment.
const CALLED: u8 = 1;
/// It runs.
const ARRIVED: u8 = 2;
/// It did not come in time, and must not come any more.
const GIVEN_UP: u8 = 3;

static BOOT_CPU: TakeOnce<PerCpu> = TakeOnce::new(PerCpu::new(CpuId(0), ApicId(0), ARRIVED));

/// Which CPUs have their area, and one more than the highest number of one that has.
static HAS_AREA: [AtomicBool; MAX_CPUS] = [const { AtomicBool::new(false) }; MAX_CPUS];
static AREAS_END: AtomicU16 = AtomicU16::new(0);

impl PerCpu {
    const fn new(id: CpuId, apic: ApicId, start: u8) -> PerCpu {
        PerCpu {
            this: AtomicPtr::new(null_mut()),
            id,
            guards: AtomicU32::new(0),
            memory: LocalPointer::null(),
            apic,
            calls: RequestWord::new(),
            takes_calls: AtomicBool::new(false),
            mailbox: Mailbox::new(),
            stopped: AtomicBool::new(false),
            start: AtomicU8::new(start),
            tables: UnsafeCell::new(Tables { segments: Segments::new(), idt: Idt::new() }),
        }
    }

    /// Makes this CPU use the block, and these stacks for exceptions.
    ///
    /// # Safety
    /// This is the block's CPU, which does it for the first time; it has interrupts off, and
    /// neither a guard that says so nor a token. The stacks are nobody else's.
    unsafe fn load(&'static self, stacks: [VirtAddr; EXCEPTION_STACKS]) {
        let block = core::ptr::from_ref(self);
        self.this.store(block.cast_mut(), Ordering::Relaxed);
        // SAFETY: the only time that a reference to them is made, by the CPU itself.
        let Tables { segments, idt } = unsafe { &mut *self.tables.get() };
        segments.load(stacks);
        // After the segments: loading a segment register clears the base.
        GsBase::write(x86_64::VirtAddr::from_ptr(block));
        idt.load();
    }

    /// Whether the CPU takes calls (`remote`).
    pub(crate) fn takes_calls(&self) -> bool {
        self.takes_calls.load(Ordering::Acquire)
    }

    /// For whoever has the turn to call.
    pub(crate) fn set_takes_calls(&self, takes: bool) {
        self.takes_calls.store(takes, Ordering::Release);
    }

    /// Its start begins, if it is the first.
    pub(crate) fn call(&self) {
        self.change(ASLEEP, CALLED);
    }

    /// Whether its start has begun and nothing came of it yet.
    pub(crate) fn is_called(&self) -> bool {
        self.start.load(Ordering::Acquire) == CALLED
    }

    /// It must not arrive any more, unless it has.
    pub(crate) fn give_up(&self) {
        self.change(CALLED, GIVEN_UP);
    }

    /// Whether it has arrived.
    pub(crate) fn has_started(&self) -> bool {
        self.start.load(Ordering::Acquire) == ARRIVED
    }

    fn change(&self, from: u8, to: u8) -> bool {
        // AcqRel: who sees the CPU arrived sees what it has done by then.
        self.start.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// Gives the boot CPU its block in the image.
pub(super) fn init_boot_cpu() {
    let cpu: &'static PerCpu = BOOT_CPU.take().expect("the boot CPU is set up once");
    // SAFETY: it is CPU 0's, which was just started.
    unsafe { cpu.load(exception_stack_tops()) };
}

/// Makes the block of an area, for the CPU with this APIC id.
///
/// # Safety
/// All pages of the area are mapped for good, and nobody has used them; for the first time.
pub unsafe fn prepare(area: Area, apic: ApicId) {
    // SAFETY: the caller's promise.
    unsafe { make(area, PerCpu::new(area.cpu(), apic, ASLEEP)) };
}

/// # Safety
/// As for [`prepare`].
unsafe fn make(area: Area, content: PerCpu) -> &'static PerCpu {
    let block: *mut PerCpu = area.block().start.as_ptr();
    // SAFETY: the block is mapped, page aligned, large enough and nobody's; it becomes a `PerCpu`
    // before anybody is told of it, and stays one for good.
    let block = unsafe {
        block.write(content);
        &*block
    };
    // Release: who sees it sees the block made.
    HAS_AREA[area.cpu().index()].store(true, Ordering::Release);
    AREAS_END.fetch_max(area.cpu().0 + 1, Ordering::Release);
    block
}

/// Makes the boot CPU the owner of its area.
///
/// # Safety
/// As for [`prepare`]. This is the boot CPU, with interrupts off, and neither a guard that says so
/// nor a token.
pub(super) unsafe fn move_to(area: Area, apic: ApicId) {
    // SAFETY: the caller's promise.
    unsafe {
        let block = make(area, PerCpu::new(area.cpu(), apic, ARRIVED));
        block.load(area.exception_stack_tops());
    }
}

/// Makes the CPU that this runs on the owner of its area; false when it comes too late.
///
/// # Safety
/// This is the block's CPU, in its first steps on the stack of its area.
pub(crate) unsafe fn arrive(block: &'static PerCpu) -> bool {
    if !block.change(CALLED, ARRIVED) {
        return false;
    }
    let Some(area) = Area::of(block.id) else { return false };
    control::switch_on();
    // SAFETY: the caller's promise; a CPU arrives once.
    unsafe { block.load(area.exception_stack_tops()) };
    true
}

/// The areas of the CPUs that have one.
pub fn areas() -> impl Iterator<Item = Area> + Clone {
    let has = |area: &Area| HAS_AREA[area.cpu().index()].load(Ordering::Acquire);
    let end = AREAS_END.load(Ordering::Acquire);
    (0..end).map_while(|cpu| Area::of(CpuId(cpu))).filter(has)
}

/// The blocks in areas.
pub(crate) fn all_blocks() -> impl Iterator<Item = &'static PerCpu> {
    areas().map(|area| {
        let block: *const PerCpu = area.block().start.as_ptr();
        // SAFETY: the area is made, hence its block, for good; nobody has it mutably.
        unsafe { &*block }
    })
}

/// Whether a CPU was started and has come.
pub fn has_started(cpu: CpuId) -> bool {
    block_of(cpu).is_some_and(PerCpu::has_started)
}

/// The block of a CPU that has an area.
pub(crate) fn block_of(cpu: CpuId) -> Option<&'static PerCpu> {
    let area = Area::of(cpu)?;
    let block: *const PerCpu = area.block().start.as_ptr();
    // SAFETY: as in `all_blocks`.
    HAS_AREA[cpu.index()].load(Ordering::Acquire).then(|| unsafe { &*block })
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
    &block().memory
}

/// This CPU's block. As [`current`].
#[inline]
pub(crate) fn block() -> &'static PerCpu {
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
    // SAFETY: the block stays for good, and nobody has it mutably.
    unsafe { &*block }
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
