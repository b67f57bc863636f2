//! Forgetting translations on this CPU.

use nearmem::{PAGE_SIZE, VirtAddr};
use x86_64::instructions::tlb;
use x86_64::registers::control::{Cr4, Cr4Flags};

use crate::interrupts::InterruptsOff;

/// Up to so many pages are flushed one by one, as Linux does (`tlb_single_page_flush_ceiling`).
const ONE_BY_ONE: u64 = 33;

/// Forgets all translations of `start..end` on this CPU, and what it remembers of tables.
pub(crate) fn flush(start: VirtAddr, end: VirtAddr) {
    let pages = end.0.saturating_sub(start.0).div_ceil(PAGE_SIZE);
    if pages <= ONE_BY_ONE {
        (0..pages).for_each(|page| flush_page(start + page * PAGE_SIZE));
    } else {
        flush_all();
    }
}

fn flush_page(at: VirtAddr) {
    if let Ok(at) = x86_64::VirtAddr::try_new(at.0) {
        tlb::flush(at);
    }
}

/// Forgets everything, global translations included.
pub(crate) fn flush_all() {
    let _interrupts = InterruptsOff::new();
    let old = Cr4::read();
    if old.contains(Cr4Flags::PAGE_GLOBAL) {
        // SAFETY: the flag only says whether translations may be global; changing it flushes all
        // of them (Intel SDM volume 3, 5.10.4.1).
        unsafe {
            Cr4::write(old - Cr4Flags::PAGE_GLOBAL);
            Cr4::write(old);
        }
    } else {
        tlb::flush_all();
    }
}
