//! The kernel image: its sections by the linker script, and where the loader has put their pages.

use core::ops::Range;

use nearmem::{PAGE_SIZE, PhysAddr, PhysRange, VirtAddr};
use x86_64::registers::control::Cr3;

use super::direct_map::DirectMap;
use super::plan::{Access, ImagePart};
use super::runs::runs;
use super::table;
use crate::cpu::stacks::image_guard_pages;

unsafe extern "C" {
    safe static image_start: u8;
    safe static text_start: u8;
    safe static data_start: u8;
    safe static image_end: u8;
}

/// The sections, ascending and without gaps: constants, code, data. Bounds are multiples of 4 KiB.
pub fn sections() -> [(Range<VirtAddr>, Access); 3] {
    let bounds = [&raw const image_start, &raw const text_start, &raw const data_start]
        .map(|symbol| VirtAddr(symbol.addr() as u64));
    let end = VirtAddr((&raw const image_end).addr() as u64);
    let [constants, code, data] = bounds;
    [(constants..code, Access::Read), (code..data, Access::Execute), (data..end, Access::Write)]
}

/// The image as it is to be mapped: without the guard pages of the stacks. `Err` has a page that the
/// page tables in force do not map.
pub(super) fn parts() -> impl Iterator<Item = Result<ImagePart, VirtAddr>> + Clone {
    sections().into_iter().flat_map(|(section, access)| {
        without_guards(section).flat_map(move |range| by_leaf(range, access))
    })
}

/// Where the image lies in physical memory, guard pages included: one range, if the loader put it
/// where the linker script says. Pages that are not mapped are left out.
pub fn ranges() -> impl Iterator<Item = PhysRange> {
    runs(places().map(|(_, memory)| memory))
}

/// What of it is mapped, ascending, each part with the memory behind it.
pub fn places() -> impl Iterator<Item = (VirtAddr, PhysRange)> {
    let parts = sections().into_iter().flat_map(|(section, access)| by_leaf(section, access));
    parts.flatten().map(|part| (part.at, part.memory))
}

/// What of a range lies between guard pages.
fn without_guards(mut rest: Range<VirtAddr>) -> impl Iterator<Item = Range<VirtAddr>> + Clone {
    core::iter::from_fn(move || {
        while rest.start < rest.end {
            let guard = image_guard_pages().filter(|&page| page >= rest.start).min();
            let end = guard.map_or(rest.end, |guard| guard.min(rest.end));
            let part = rest.start..end;
            rest.start = end + PAGE_SIZE;
            if !part.is_empty() {
                return Some(part);
            }
        }
        None
    })
}

/// A range in parts, one for each leaf of the page tables in force. `Err` has a page that they do
/// not map.
fn by_leaf(
    range: Range<VirtAddr>,
    access: Access,
) -> impl Iterator<Item = Result<ImagePart, VirtAddr>> + Clone {
    let mut next = range.start;
    core::iter::from_fn(move || {
        let at = next;
        let rest = range.end.0.checked_sub(at.0).filter(|&rest| rest > 0)?;
        let Some(leaf) = memory_of(at) else {
            next = at + PAGE_SIZE;
            return Some(Err(at));
        };
        let memory = PhysRange { end: leaf.end.min(leaf.start + rest), ..leaf };
        next = at + memory.len();
        Some(Ok(ImagePart { at, memory, access }))
    })
}

/// The memory behind a page of the image or of a CPU's area, if it is mapped: from there to the end
/// of what one leaf maps.
pub fn memory_of(at: VirtAddr) -> Option<PhysRange> {
    let root = PhysAddr(Cr3::read().0.start_address().as_u64());
    // SAFETY: the tables in force lie where the direct map reaches them, and nothing changes those
    // of the image and of areas that are there.
    let leaf = unsafe { table::find(&DirectMap, root, at) }?;
    let memory = leaf.entry.addr();
    Some(PhysRange { start: memory + (at.0 - leaf.at.0), end: memory + leaf.level.span() })
}
