//! Who has which frame: a bit for each frame, set as long as somebody has it.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use nearmem::alloc::FrameBlock;
use nearmem_kernel::Kernel;

/// The bits, from frame 0 on.
pub struct Owners(Vec<AtomicU64>);

impl Owners {
    /// Nobody has anything.
    pub fn new(kernel: &Kernel) -> Owners {
        let end = kernel.map.ranges().iter().map(|range| range.frames.end.0).max().unwrap_or(0);
        Owners((0..end.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// One that is not asked.
    pub fn none() -> Owners {
        Owners(Vec::new())
    }

    /// Somebody has got a block, of order 6 at most.
    pub fn take(&self, block: &FrameBlock<'_>) {
        let Some((word, bits)) = self.place(block) else { return };
        let before = word.fetch_or(bits, Ordering::AcqRel);
        assert_eq!(before & bits, 0, "{:?} is in two blocks", block.pfn());
    }

    /// Somebody is about to free it.
    pub fn give(&self, block: &FrameBlock<'_>) {
        let Some((word, bits)) = self.place(block) else { return };
        let before = word.fetch_and(!bits, Ordering::AcqRel);
        assert_eq!(before & bits, bits, "{:?} was taken by somebody else", block.pfn());
    }

    /// All have given back what they had.
    pub fn expect_none(&self) {
        assert!(
            self.0.iter().all(|word| word.load(Ordering::Acquire) == 0),
            "a frame has an owner"
        );
    }

    fn place(&self, block: &FrameBlock<'_>) -> Option<(&AtomicU64, u64)> {
        let (first, pages) = (block.pfn().0, block.order().pages());
        let bits = u64::MAX >> (64 - pages) << (first % 64);
        Some((self.0.get((first / 64) as usize)?, bits))
    }
}
