//! Blocks back to where they came from.
#![forbid(unsafe_code)]

use crate::platform::CpuPlatform;
use crate::zone::FreeError;

use super::{CHECKED, FrameBlock, LocalCpu, MemorySubsystem};

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Frees without ever waiting. A single frame goes into this CPU's pageset of the frame's own
    /// zone, whichever CPU allocated it.
    ///
    /// # Errors
    /// [`FreeError::Foreign`]: the block is of another subsystem, which counts it as leaked. Other
    /// errors mean that the contract of [`FrameBlock::from_raw`] was broken; nothing changes.
    #[inline]
    pub fn try_free(&self, cpu: &LocalCpu<'m, P>, block: FrameBlock<'_>) -> Result<(), FreeError> {
        let block = if CHECKED { self.check(cpu, block)? } else { block };
        if cpu.block().park(&block) {
            block.leak();
            return Ok(());
        }
        self.try_free_slow(cpu, block)
    }

    /// The block again, if it can be an allocated one of ours.
    fn check<'b>(
        &self,
        cpu: &LocalCpu<'m, P>,
        block: FrameBlock<'b>,
    ) -> Result<FrameBlock<'b>, FreeError> {
        let zone = self.zones.iter().find(|zone| core::ptr::addr_eq(**zone, block.owner()));
        let zone = zone.ok_or(FreeError::Foreign)?;
        match self.check_taken(cpu.token(), zone, block.pfn(), block.order()) {
            Ok(()) => Ok(block),
            Err(error) => {
                let _claimed_twice = block.leak();
                Err(error)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn try_free_slow(&self, cpu: &LocalCpu<'m, P>, block: FrameBlock<'_>) -> Result<(), FreeError> {
        let slot = cpu
            .block()
            .slots
            .get(usize::from(block.word().zone()))
            .filter(|slot| core::ptr::addr_eq(slot.zone(), block.owner()))
            .ok_or(FreeError::Foreign)?;
        slot.give(cpu.token(), block)
    }

    /// Frees.
    ///
    /// # Errors
    /// As [`try_free`](Self::try_free).
    #[inline]
    pub fn free(&self, block: FrameBlock<'_>) -> Result<(), FreeError> {
        self.try_free(&self.pin(), block)
    }
}
