//! All stacks that there are: those in the kernel image, which the boot CPU has at first, each with
//! a page under it that the final page tables leave out, and those in the areas of the CPUs.

use core::cell::UnsafeCell;
use core::ops::Range;

use nearmem::{PAGE_SIZE, VirtAddr};

use super::area::{Area, EXCEPTION_STACK_PAGES, EXCEPTION_STACKS};
use super::per_cpu;

/// Bytes of the stack that the kernel is started on.
const BOOT_STACK_BYTES: usize = 256 << 10;
const EXCEPTION_STACK_BYTES: usize = (EXCEPTION_STACK_PAGES * PAGE_SIZE) as usize;

/// A stack above its guard page. Nobody makes references into it.
#[repr(C, align(4096))]
pub struct GuardedStack<const BYTES: usize> {
    guard: UnsafeCell<[u8; PAGE_SIZE as usize]>,
    stack: UnsafeCell<[u8; BYTES]>,
}

// SAFETY: the content is not reachable but through raw pointers.
unsafe impl<const BYTES: usize> Sync for GuardedStack<BYTES> {}

impl<const BYTES: usize> GuardedStack<BYTES> {
    const fn new() -> Self {
        const { assert!(BYTES.is_multiple_of(PAGE_SIZE as usize)) };
        let (guard, stack) = (UnsafeCell::new([0; _]), UnsafeCell::new([0; _]));
        GuardedStack { guard, stack }
    }
}

/// The stack that the kernel is started on.
pub(crate) static BOOT_STACK: GuardedStack<BOOT_STACK_BYTES> = GuardedStack::new();
/// The boot CPU's stacks for exceptions, until it has its area.
static EXCEPTION: [GuardedStack<EXCEPTION_STACK_BYTES>; EXCEPTION_STACKS] =
    [const { GuardedStack::new() }; EXCEPTION_STACKS];

/// Where the exception stacks in the image begin: one past their last bytes.
pub(super) fn exception_stack_tops() -> [VirtAddr; EXCEPTION_STACKS] {
    let first = (&raw const EXCEPTION).addr() as u64;
    let size = size_of_val(&EXCEPTION[0]) as u64;
    core::array::from_fn(|index| VirtAddr(first + size * (index as u64 + 1)))
}

/// The guard pages in the image.
pub(crate) fn image_guard_pages() -> impl Iterator<Item = VirtAddr> + Clone {
    let boot = VirtAddr((&raw const BOOT_STACK).addr() as u64);
    let size = size_of_val(&EXCEPTION[0]) as u64;
    core::iter::once(boot)
        .chain(exception_stack_tops().into_iter().map(move |top| VirtAddr(top.0 - size)))
}

/// All stacks, without their guard pages.
pub fn stacks() -> impl Iterator<Item = Range<VirtAddr>> + Clone {
    let sizes = core::iter::once(BOOT_STACK_BYTES).chain(core::iter::repeat(EXCEPTION_STACK_BYTES));
    let image = image_guard_pages().zip(sizes).map(|(guard, size)| {
        let bottom = guard + PAGE_SIZE;
        bottom..bottom + size as u64
    });
    image.chain(per_cpu::areas().flat_map(Area::stacks))
}

/// The guard pages under all stacks.
pub fn guard_pages() -> impl Iterator<Item = VirtAddr> + Clone {
    stacks().map(|stack| VirtAddr(stack.start.0 - PAGE_SIZE))
}

/// Whether `at` is in a guard page.
pub fn is_guard(at: VirtAddr) -> bool {
    guard_pages().any(|page| (page.0..page.0 + PAGE_SIZE).contains(&at.0))
}

/// Whether the 8 bytes at `at` are all in a stack, not in its guard page.
pub fn holds(at: VirtAddr) -> bool {
    stacks().any(|stack| stack.start <= at && at.0 <= stack.end.0 - 8)
}
