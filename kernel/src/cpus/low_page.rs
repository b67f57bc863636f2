//! A page below 1 MiB, in which other CPUs begin in real mode.

use nearmem::memblock::MemBlock;
use nearmem::{Pfn, PfnRange, PhysAddr};

/// What a CPU can be told to begin at: the pages of the first MiB, less frame 0 and what a PC has
/// there besides RAM.
const LOW: PfnRange = PfnRange::new(1, 0xa0);

/// Takes the highest free page; `None` where all are taken.
pub fn reserve(boot_memory: &mut MemBlock<'_>) -> Option<PhysAddr> {
    let low = boot_memory.free_ranges().map(|range| range.frames.intersect(LOW));
    let highest = low
        .take_while(|frames| frames.start < LOW.end)
        .filter(|frames| !frames.is_empty())
        .last()?;
    let page = PfnRange { start: Pfn(highest.end.0 - 1), end: highest.end };
    boot_memory.reserve(page.bytes()).ok()?;
    Some(page.bytes().start)
}
