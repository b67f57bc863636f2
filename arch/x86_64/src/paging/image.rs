//! The kernel image: its sections by the linker script, and where the loader has put their pages.

use core::ops::Range;

use nearmem::{PAGE_SIZE, PhysAddr, PhysRange, VirtAddr};
use x86_64::registers::control::Cr3;

use super::direct_map::DirectMap;
use super::plan::{Access, ImagePage};
use super::runs::runs;
use super::table;
use crate::cpu::stacks::is_image_guard;

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

/// The image's pages as they are to be mapped: all but the guard pages of the stacks. `Err` has a
/// page that the page tables in force do not map, and is the last.
pub(super) fn pages() -> impl Iterator<Item = Result<ImagePage, VirtAddr>> + Clone {
    addresses()
        .filter(|&(at, _)| !is_image_guard(at))
        .map(|(at, access)| frame_of(at).map(|frame| ImagePage { at, frame, access }).ok_or(at))
}

/// Where the image lies in physical memory, guard pages included: one range, if the loader put it
/// where the linker script says. Pages that are not mapped are left out.
pub fn ranges() -> impl Iterator<Item = PhysRange> {
    runs(frames().map(|(_, frame)| frame))
}

/// Its pages that are mapped, ascending, each with the frame behind it.
pub fn frames() -> impl Iterator<Item = (VirtAddr, PhysAddr)> {
    addresses().filter_map(|(at, _)| Some((at, frame_of(at)?)))
}

fn addresses() -> impl Iterator<Item = (VirtAddr, Access)> + Clone {
    sections().into_iter().flat_map(|(range, access)| {
        let pages = (range.end.0 - range.start.0) / PAGE_SIZE;
        (0..pages).map(move |page| (range.start + page * PAGE_SIZE, access))
    })
}

/// The frame behind a page of the image or of a CPU's area, if it is mapped.
pub fn frame_of(at: VirtAddr) -> Option<PhysAddr> {
    let root = PhysAddr(Cr3::read().0.start_address().as_u64());
    // SAFETY: the tables in force lie where the direct map reaches them, and nothing changes those
    // of the image and of areas that are there.
    let leaf = unsafe { table::find(&DirectMap, root, at) }?;
    Some(leaf.entry.addr() + (at.0 - leaf.at.0))
}
