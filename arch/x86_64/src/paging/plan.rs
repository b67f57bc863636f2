//! What goes into the final page tables.

use nearmem::platform::PhysMap;
use nearmem::{PhysAddr, PhysRange, VirtAddr};
use x86_64::structures::paging::PageTableFlags;

use super::builder::{BuildError, Builder, Leaves};
use super::entry::Level;
use super::runs::runs;
use crate::layout::{DIRECT_MAP, DIRECT_MAP_SIZE, MMIO, VMALLOC};

/// What a section of the kernel image may be used for, apart from reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing.
    Read,
    /// Executing.
    Execute,
    /// Writing.
    Write,
}

impl Access {
    fn flags(self) -> PageTableFlags {
        let flags = PageTableFlags::GLOBAL;
        match self {
            Access::Read => flags | PageTableFlags::NO_EXECUTE,
            Access::Execute => flags,
            Access::Write => flags | PageTableFlags::NO_EXECUTE | PageTableFlags::WRITABLE,
        }
    }
}

/// Whole pages of the kernel image that follow each other in memory, too.
#[derive(Clone, Copy, Debug)]
pub struct ImagePart {
    /// Where it is linked.
    pub at: VirtAddr,
    /// Where it lies.
    pub memory: PhysRange,
    /// What it may be used for.
    pub access: Access,
}

/// What the CPU can do.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// The flags that it knows.
    pub flags: PageTableFlags,
    /// Whether it has 1 GiB leaves.
    pub gib_pages: bool,
    /// The first physical address that it does not have, in bytes.
    pub physical_end: u64,
}

/// What was mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The direct map.
    pub direct_map: Leaves,
    /// The kernel image.
    pub image: Leaves,
    /// Frames that all tables take, those kept ready for vmalloc and devices included.
    pub table_frames: u64,
    /// Bytes of the given ranges that neither the direct map (64 TiB) nor the CPU reaches.
    pub out_of_reach: u64,
}

/// Tables that are kept ready.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The table of level 3 that vmalloc's window is.
    pub vmalloc: PhysAddr,
    /// The table of level 1 for device registers.
    pub mmio: PhysAddr,
}

/// Maps everything: the image in pages of 4 KiB, and `ranges` (bytes; in any order, they may overlap),
/// widened to whole frames, in the direct map.
pub fn fill<M: PhysMap, F: FnMut() -> Option<PhysAddr>>(
    builder: &mut Builder<'_, M, F>,
    abilities: Abilities,
    image: impl Iterator<Item = ImagePart> + Clone,
    ranges: impl Iterator<Item = PhysRange>,
) -> Result<(Summary, Ready), BuildError> {
    let mut summary = Summary::default();
    for part in image.clone() {
        summary.image += builder.map(part.at, part.memory, part.access.flags(), Level::ONE)?;
    }

    let largest = if abilities.gib_pages { Level::THREE } else { Level::TWO };
    let direct = |range: PhysRange| (DIRECT_MAP + range.start.0, range);
    // The aliases of what may be executed or must not change come first: what is mapped stays.
    let fixed = image.filter(|part| part.access != Access::Write).map(|part| part.memory);
    for (at, range) in runs(fixed).map(direct) {
        summary.direct_map += builder.map(at, range, Access::Read.flags(), largest)?;
    }
    let reach = PhysRange::new(0, DIRECT_MAP_SIZE.min(abilities.physical_end));
    for range in ranges {
        let inside = range.intersect(reach);
        summary.out_of_reach = summary.out_of_reach.saturating_add(range.len() - inside.len());
        if inside.is_empty() {
            continue;
        }
        let (at, range) = direct(inside.touched_frames().bytes());
        summary.direct_map += builder.map(at, range, Access::Write.flags(), largest)?;
    }

    let vmalloc = builder.table(VMALLOC, Level::THREE)?;
    let mmio = builder.table(MMIO, Level::ONE)?;
    summary.table_frames = builder.table_frames();
    Ok((summary, Ready { vmalloc, mmio }))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
