//! Building the final page tables, and the switch to them.

use nearmem::{PhysAddr, PhysRange};
use x86_64::PhysAddr as Physical;
use x86_64::registers::control::{Cr3, Cr3Flags, Cr4, Cr4Flags};
use x86_64::registers::model_specific::{Efer, EferFlags};
use x86_64::structures::paging::{PageTableFlags, PhysFrame};

use super::builder::{BuildError, Builder};
use super::direct_map::DirectMap;
use super::plan::{self, Abilities, Ready, Summary};
use super::tables::KernelPageTables;
use super::{image, tlb};
use crate::cpuid::CpuFacts;
use crate::layout::BOOT_DIRECT_MAP_SIZE;

/// Page tables that are not in force yet.
#[must_use]
pub struct NewTables {
    root: PhysAddr,
    ready: Ready,
    known: PageTableFlags,
    summary: Summary,
}

/// Builds the kernel's page tables: the image, the direct map of `ranges` (bytes, widened to whole
/// frames; in any order, they may overlap), the root of vmalloc's window and of device registers.
/// RAM that the direct map or the CPU does not reach is left out and counted.
///
/// # Safety
/// Called while the boot page tables are in force. `frames` gives frames of RAM below 4 GiB that
/// nobody else uses and that stay the tables' for good; their contents do not matter.
pub unsafe fn build(
    cpu: &CpuFacts,
    ranges: impl Iterator<Item = PhysRange>,
    frames: impl FnMut() -> Option<PhysAddr>,
) -> Result<NewTables, BuildError> {
    if let Some(at) = image::parts().find_map(Result::err) {
        return Err(BuildError::ImageNotMapped(at));
    }
    let abilities = abilities(cpu);
    let known = abilities.flags;
    // SAFETY: the caller vouches for the frames; the boot page tables reach the first 4 GiB.
    let mut builder = unsafe { Builder::new(&DirectMap, frames, BOOT_DIRECT_MAP_SIZE, known) }?;
    let parts = image::parts().filter_map(Result::ok);
    let (summary, ready) = plan::fill(&mut builder, abilities, parts, ranges)?;
    Ok(NewTables { root: builder.root(), ready, known, summary })
}

/// What of the CPU's abilities is switched on.
fn abilities(cpu: &CpuFacts) -> Abilities {
    let mut flags = PageTableFlags::all();
    flags.set(PageTableFlags::NO_EXECUTE, Efer::read().contains(EferFlags::NO_EXECUTE_ENABLE));
    flags.set(PageTableFlags::GLOBAL, Cr4::read().contains(Cr4Flags::PAGE_GLOBAL));
    Abilities { flags, gib_pages: cpu.gib_pages, physical_end: cpu.physical_end() }
}

impl NewTables {
    /// What is mapped.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Puts the tables in force on this CPU.
    ///
    /// # Safety
    /// From now on nobody uses an address that only the boot page tables map: the first 4 GiB as
    /// they are, what of the direct map is in no range given to [`build`], the loader's data.
    pub unsafe fn switch(self) -> KernelPageTables<DirectMap> {
        let root = PhysFrame::containing_address(Physical::new(self.root.0));
        // SAFETY: the tables map the image as it is mapped now, with the rights that its sections
        // need, the stack in it included; the caller vouches for all else.
        unsafe { Cr3::write(root, Cr3Flags::empty()) };
        // The loader's tables may have had global entries, which the switch leaves in the TLB.
        tlb::flush_all();
        // SAFETY: `plan` made them, and they are in force: nobody else knows them.
        unsafe { KernelPageTables::new(DirectMap, self.root, self.ready, self.known) }
    }
}
