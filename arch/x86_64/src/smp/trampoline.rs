//! The page below 1 MiB in which a CPU begins, and the page tables for the way to the kernel's own.

use core::arch::global_asm;
use core::mem::offset_of;

use nearmem::platform::PhysMap;
use nearmem::{PAGE_SIZE, PhysAddr};
use x86_64::registers::control::{Cr0, Cr4};
use x86_64::registers::model_specific::{Efer, EferFlags};

use super::arrive::arrive;
use crate::paging::{BuildError, KernelPageTables, direct_map};

/// What the code needs, behind it in the page. The layout is known to trampoline.s by offsets.
#[derive(Clone, Copy)]
#[repr(C)]
struct Data {
    /// Nothing, and a flat 64-bit code segment.
    gdt: [u64; 2],
    /// The root of the kernel's page tables.
    root: u64,
    /// APIC ids by CPU number, and how many.
    ids: u64,
    main: u64,
    /// `arrive`.
    entry: u64,
    count: u32,
    cr0: u32,
    cr3: u32,
    cr4: u32,
    efer: u32,
    /// Limit, and the address in two halves.
    gdt_pointer: [u16; 3],
    /// Address in two halves, and selector: where 64-bit code begins.
    far: [u16; 3],
}

global_asm!(
    include_str!("trampoline.s"),
    cr0 = const offset_of!(Data, cr0),
    cr3 = const offset_of!(Data, cr3),
    cr4 = const offset_of!(Data, cr4),
    efer = const offset_of!(Data, efer),
    gdt_pointer = const offset_of!(Data, gdt_pointer),
    far = const offset_of!(Data, far),
    root = const offset_of!(Data, root),
    ids = const offset_of!(Data, ids),
    count = const offset_of!(Data, count),
    main = const offset_of!(Data, main),
    entry = const offset_of!(Data, entry),
    data_bytes = const size_of::<Data>(),
    options(att_syntax)
);

unsafe extern "C" {
    safe static trampoline_begin: u8;
    safe static trampoline_long: u8;
    safe static trampoline_data: u8;
    safe static trampoline_end: u8;
}

/// A 64-bit code segment of ring 0, and its selector.
const CODE: u64 = 0x00af_9a00_0000_ffff;
const SELECTOR: u16 = 8;

/// A page that CPUs can be started in. It stays, for those that are started later.
#[derive(Clone, Copy, Debug)]
pub struct Trampoline {
    page: u8,
}

impl Trampoline {
    /// Fills the page. A CPU that begins there goes on with `main` in its area, with interrupts
    /// off. `ids` are the APIC ids of all CPUs by CPU number. `frames` gives frames for page tables,
    /// below 4 GiB.
    ///
    /// # Errors
    /// No frame for a table.
    ///
    /// # Safety
    /// The page and the frames are RAM that is the trampoline's for good; `page` lies below 1 MiB.
    pub unsafe fn new<M: PhysMap>(
        page: PhysAddr,
        tables: &KernelPageTables<M>,
        frames: impl FnMut() -> Option<PhysAddr>,
        ids: &'static [u32],
        main: extern "C" fn() -> !,
    ) -> Result<Trampoline, BuildError> {
        // SAFETY: the caller's promise.
        let way = unsafe { tables.with_identity(page, frames) }?;
        let at = |symbol: *const u8| page.0 + offset(symbol) as u64;
        let halves = |address: u64| (address as u16, (address >> 16) as u16);
        let data = &raw const trampoline_data;
        let (gdt_low, gdt_high) = halves(at(data) + offset_of!(Data, gdt) as u64);
        let (long_low, long_high) = halves(at(&raw const trampoline_long));
        let efer = Efer::read() - EferFlags::LONG_MODE_ACTIVE;
        let content = Data {
            gdt: [0, CODE],
            root: tables.root().0,
            ids: ids.as_ptr().addr() as u64,
            main: main as *const () as u64,
            entry: arrive as *const () as u64,
            count: ids.len() as u32,
            cr0: Cr0::read_raw() as u32,
            cr3: way.0 as u32,
            cr4: Cr4::read_raw() as u32,
            efer: efer.bits() as u32,
            gdt_pointer: [size_of::<[u64; 2]>() as u16 - 1, gdt_low, gdt_high],
            far: [long_low, long_high, SELECTOR],
        };
        let (begin, bytes) = (&raw const trampoline_begin, offset(&raw const trampoline_end));
        assert!(bytes as u64 <= PAGE_SIZE, "the trampoline is one page");
        // SAFETY: the page is the caller's gift and behind the direct map; the code is as long as
        // its symbols say, and has room for the data, aligned to 8 bytes.
        unsafe {
            let copy = direct_map(page);
            core::ptr::copy_nonoverlapping(begin, copy, bytes);
            copy.add(offset(data)).cast::<Data>().write(content);
        }
        Ok(Trampoline { page: page.pfn().0 as u8 })
    }

    /// The page's number.
    pub(super) fn page(&self) -> u8 {
        self.page
    }
}

/// How far into the trampoline a symbol is.
fn offset(symbol: *const u8) -> usize {
    symbol.addr() - (&raw const trampoline_begin).addr()
}
