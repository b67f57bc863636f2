//! The proof of "this CPU, interrupts off", with the CPU's own block.
#![forbid(unsafe_code)]

use crate::ids::{CpuId, NodeId};
use crate::platform::{CpuPlatform, CpuToken};

use super::cpu_block::CpuBlock;

/// The proof of "this CPU, interrupts off", with the CPU's own block. Interrupts go back to what
/// they were when it is dropped. They may nest.
pub struct LocalCpu<'m, P: CpuPlatform> {
    pin: P::Pin,
    block: &'m CpuBlock<'m>,
}

impl<'m, P: CpuPlatform> LocalCpu<'m, P> {
    #[inline]
    pub(super) fn new(pin: P::Pin, block: &'m CpuBlock<'m>) -> Self {
        LocalCpu { pin, block }
    }

    /// The proof itself.
    #[inline]
    pub fn token(&self) -> &CpuToken {
        self.pin.as_ref()
    }

    /// Which CPU this is.
    pub fn cpu(&self) -> CpuId {
        self.token().cpu()
    }

    /// The CPU's node, which may have no memory.
    pub fn node(&self) -> NodeId {
        self.block.node
    }

    #[inline]
    pub(super) fn block(&self) -> &'m CpuBlock<'m> {
        self.block
    }
}
