//! The segments of one CPU: flat code and data, and the TSS with the stacks for exceptions.

use nearmem::VirtAddr;
use x86_64::instructions::segmentation::{CS, DS, ES, SS, Segment};
use x86_64::instructions::tables::load_tss;
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable};
use x86_64::structures::tss::TaskStateSegment;

use super::area::EXCEPTION_STACKS;

/// The tables of one CPU. The CPU reads them whenever it likes: they stay where they are.
#[derive(Debug)]
pub struct Segments {
    gdt: GlobalDescriptorTable,
    tss: TaskStateSegment,
}

impl Segments {
    /// Empty ones.
    pub const fn new() -> Segments {
        Segments { gdt: GlobalDescriptorTable::new(), tss: TaskStateSegment::new() }
    }

    /// Fills them and makes this CPU use them.
    pub fn load(&'static mut self, stacks: [VirtAddr; EXCEPTION_STACKS]) {
        let Segments { gdt, tss } = self;
        tss.interrupt_stack_table = stacks.map(|top| x86_64::VirtAddr::new(top.0));
        let code = gdt.append(Descriptor::kernel_code_segment());
        let data = gdt.append(Descriptor::kernel_data_segment());
        let task = gdt.append(Descriptor::tss_segment(tss));
        gdt.load();
        // SAFETY: the selectors are those of flat ring-0 segments and of a TSS in the table that
        // was just loaded, which stays for good.
        unsafe {
            CS::set_reg(code);
            SS::set_reg(data);
            DS::set_reg(data);
            ES::set_reg(data);
            load_tss(task);
        }
    }
}
