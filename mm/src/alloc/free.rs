//! Blocks back to where they came from.
#![forbid(unsafe_code)]

use crate::platform::Platform;
use crate::zone::FreeError;

use super::{FrameBlock, LocalCpu, MemorySubsystem};

impl<'m, P: Platform> MemorySubsystem<'m, P> {
    /// Frees without ever waiting. A single frame goes into this CPU's pageset of the frame's own
    /// zone, whichever CPU allocated it.
    ///
    /// # Errors
    /// [`FreeError::Foreign`]: the block is of another subsystem, which counts it as leaked. Other
    /// errors mean that the contract of [`FrameBlock::from_raw`] was broken; nothing changes.
    pub fn try_free(&self, cpu: &LocalCpu<'m, P>, block: FrameBlock<'_>) -> Result<(), FreeError> {
        let slot = cpu
            .block()
            .slots
            .get(usize::from(block.zone_index()))
            .filter(|slot| core::ptr::addr_eq(slot.zone(), block.owner()))
            .ok_or(FreeError::Foreign)?;
        if cfg!(feature = "checked") {
            let zone = slot.zone();
            if let Err(error) = self.check_taken(cpu.token(), zone, block.pfn(), block.order()) {
                let _claimed_twice = block.leak();
                return Err(error);
            }
        }
        slot.give(cpu.token(), block)
    }

    /// Frees.
    ///
    /// # Errors
    /// As [`try_free`](Self::try_free).
    pub fn free(&self, block: FrameBlock<'_>) -> Result<(), FreeError> {
        self.try_free(&self.pin(), block)
    }
}
