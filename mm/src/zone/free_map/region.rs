//! A region's word: sums over its 32 blocks, and a hint who works here. Plain arithmetic.
#![forbid(unsafe_code)]

use crate::ids::CpuId;

/// Blocks of a region.
pub(super) const REGION_BLOCKS: usize = 32;

/// The word of one region, as it lies in memory. Free frames and whole blocks are never below what
/// the entries say (invariant I2); at rest they are equal.
///
/// ```text
/// bits 0-14   free frames, 0 to 16384
/// bits 15-20  wholly free blocks, 0 to 32; CPUs that are between two steps can add to it, and
///             what runs over only changes the hint
/// bits 21-31  the CPU that prefers this region: its number modulo 2047, plus 1; 0 for none
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RegionWord(pub(super) u32);

/// What a wholly free block adds.
pub(super) const WHOLE: u32 = 1 << 15;
const OWNER_SHIFT: u32 = 21;

impl RegionWord {
    /// No owner.
    pub(super) const fn new(free: u32, whole: u32) -> RegionWord {
        RegionWord(free + whole * WHOLE)
    }

    /// Free frames.
    pub(super) const fn free(self) -> u32 {
        self.0 & (WHOLE - 1)
    }

    /// Wholly free blocks.
    pub(super) const fn whole(self) -> u32 {
        self.0 >> 15 & 63
    }

    /// Free frames outside wholly free blocks.
    pub(super) const fn partial(self) -> u32 {
        self.free().saturating_sub(self.whole() * super::entry::BLOCK_FRAMES as u32)
    }

    /// Whether nobody, or `cpu` itself, prefers this region.
    pub(super) const fn is_open_to(self, cpu: CpuId) -> bool {
        self.0 >> OWNER_SHIFT == 0 || self.is_of(cpu)
    }

    /// Whether `cpu` prefers this region.
    pub(super) const fn is_of(self, cpu: CpuId) -> bool {
        self.0 >> OWNER_SHIFT == hint(cpu)
    }

    /// The same with `cpu` as its owner.
    pub(super) const fn owned_by(self, cpu: CpuId) -> RegionWord {
        RegionWord(self.without_owner().0 | hint(cpu) << OWNER_SHIFT)
    }

    /// The same with no owner.
    pub(super) const fn without_owner(self) -> RegionWord {
        RegionWord(self.0 & ((1 << OWNER_SHIFT) - 1))
    }
}

/// A number for a CPU, 1 to 2047. CPUs that share one share the preference.
const fn hint(cpu: CpuId) -> u32 {
    cpu.0 as u32 % 2047 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_disturb_each_other() {
        let full = RegionWord::new(16384, 32);
        assert_eq!((full.free(), full.whole(), full.partial()), (16384, 32, 0));
        let owned = RegionWord::new(16383, 31).owned_by(CpuId(2046));
        assert_eq!((owned.free(), owned.whole(), owned.partial()), (16383, 31, 511));
        assert!(owned.is_of(CpuId(2046)) && !owned.is_open_to(CpuId(0)));
        assert_eq!(owned.without_owner(), RegionWord::new(16383, 31));
        assert!(owned.without_owner().is_open_to(CpuId(5)));
        assert!(owned.owned_by(CpuId(7)).is_open_to(CpuId(7)));
    }

    #[test]
    fn a_sum_of_whole_blocks_that_runs_over_comes_back() {
        let word = RegionWord::new(16384, 32);
        let over = RegionWord(word.0.wrapping_add(40 * WHOLE));
        assert_eq!(over.free(), 16384);
        assert_eq!(over.0.wrapping_sub(40 * WHOLE), word.0);
    }
}
