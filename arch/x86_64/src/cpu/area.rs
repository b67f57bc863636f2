//! Where the area of a CPU is: its stacks, each above a guard page that is not mapped, and its
//! block. A place for every CPU number at a fixed address, so that nobody has to look one up; what
//! lies behind it is RAM of the CPU's node.
//!
//! ```text
//! guard | stack | guard | exception stack 0 | ... | guard | exception stack 6 | guard | block
//! ```

use core::ops::Range;

use nearmem::ids::MAX_CPUS;
use nearmem::{CpuId, PAGE_SIZE, VirtAddr};

use crate::layout::CPU_AREAS;

/// How many stacks one CPU has for exceptions: as many as the TSS can name.
pub const EXCEPTION_STACKS: usize = 7;
/// Pages of an exception's stack: room to print all registers, and for the panic that follows.
pub const EXCEPTION_STACK_PAGES: u64 = 4;

/// Pages of the stack that a CPU works on.
const STACK_PAGES: u64 = 32;
/// Pages of the block.
pub(super) const BLOCK_PAGES: u64 = 2;
/// Pages of each part, in the order of their addresses; a guard page lies below each.
const PARTS: [u64; EXCEPTION_STACKS + 2] = {
    let mut parts = [EXCEPTION_STACK_PAGES; EXCEPTION_STACKS + 2];
    parts[0] = STACK_PAGES;
    parts[EXCEPTION_STACKS + 1] = BLOCK_PAGES;
    parts
};
const PAGES: u64 = pages_before(PARTS.len()) - PARTS.len() as u64;
const _: () = assert!((PAGES + PARTS.len() as u64) * PAGE_SIZE <= Area::STRIDE);

/// Pages of the parts before this one, their guard pages included.
const fn pages_before(part: usize) -> u64 {
    let (mut at, mut pages) = (0, 0);
    while at < part {
        pages += 1 + PARTS[at];
        at += 1;
    }
    pages
}

/// The place of one CPU's area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    cpu: CpuId,
}

impl Area {
    /// From one area to the next, in bytes: what one page table maps, so that each has its own.
    pub(crate) const STRIDE: u64 = 2 << 20;
    /// CPU 0's.
    pub(crate) const FIRST: Area = Area { cpu: CpuId(0) };
    /// Pages that are mapped in an area: so many frames it takes.
    pub const PAGES: u64 = PAGES;

    /// The place for this CPU's; `None` for a number that no CPU can have.
    pub fn of(cpu: CpuId) -> Option<Area> {
        (cpu.index() < MAX_CPUS).then_some(Area { cpu })
    }

    /// The one whose addresses `at` is among, guard pages included.
    pub fn around(at: VirtAddr) -> Option<Area> {
        let cpu = at.0.checked_sub(CPU_AREAS.0)? / Area::STRIDE;
        Area::of(CpuId(u16::try_from(cpu).ok()?))
    }

    /// Whose it is.
    pub fn cpu(self) -> CpuId {
        self.cpu
    }

    /// The pages to be mapped, ascending.
    pub fn pages(self) -> impl Iterator<Item = VirtAddr> {
        (0..PARTS.len()).flat_map(move |part| {
            let Range { start, end } = self.part(part);
            (start.0..end.0).step_by(PAGE_SIZE as usize).map(VirtAddr)
        })
    }

    /// The stacks, without their guard pages: the one to work on, then those for exceptions.
    pub fn stacks(self) -> impl Iterator<Item = Range<VirtAddr>> + Clone {
        (0..=EXCEPTION_STACKS).map(move |part| self.part(part))
    }

    /// One past the last byte of the stack to work on.
    pub const fn stack_top(self) -> VirtAddr {
        self.part(0).end
    }

    /// The same of the stacks for exceptions.
    pub fn exception_stack_tops(self) -> [VirtAddr; EXCEPTION_STACKS] {
        core::array::from_fn(|stack| self.part(stack + 1).end)
    }

    /// The CPU's block.
    pub fn block(self) -> Range<VirtAddr> {
        self.part(EXCEPTION_STACKS + 1)
    }

    const fn part(self, part: usize) -> Range<VirtAddr> {
        let area = CPU_AREAS.0 + self.cpu.0 as u64 * Area::STRIDE;
        let start = area + (pages_before(part) + 1) * PAGE_SIZE;
        VirtAddr(start)..VirtAddr(start + PARTS[part] * PAGE_SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_with_a_page_between_and_pages_are_all_of_them() {
        let area = Area::of(CpuId(3)).unwrap();
        let mut parts: Vec<_> = area.stacks().collect();
        parts.push(area.block());
        let pages: Vec<_> = area.pages().collect();
        assert_eq!(pages.len() as u64, Area::PAGES);
        let mut end = CPU_AREAS + 3 * Area::STRIDE;
        for part in parts {
            assert_eq!(part.start, end + PAGE_SIZE, "a guard page below each");
            assert!(pages.contains(&part.start) && !pages.contains(&end));
            end = part.end;
        }
        assert!(end.0 <= (CPU_AREAS + 4 * Area::STRIDE).0);
        assert_eq!(area.stack_top(), area.stacks().next().unwrap().end);
        assert_eq!(area.exception_stack_tops()[6], area.stacks().last().unwrap().end);
    }

    #[test]
    fn an_address_is_of_one_area() {
        for cpu in [0, 1, MAX_CPUS as u16 - 1].map(CpuId) {
            let area = Area::of(cpu).unwrap();
            assert_eq!(Area::around(area.block().start), Some(area));
            assert_eq!(area.cpu(), cpu);
        }
        assert_eq!(Area::of(CpuId(MAX_CPUS as u16)), None);
        assert_eq!(Area::around(VirtAddr(CPU_AREAS.0 - 1)), None);
        assert_eq!(Area::around(CPU_AREAS + MAX_CPUS as u64 * Area::STRIDE), None);
    }
}
