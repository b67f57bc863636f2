//! The CPUs of a kernel that is still on one.

use crate::ids::CpuId;
use crate::sync::LocalPointer;
use crate::units::PhysAddr;

use super::{CpuToken, Cpus, PhysMap};

/// A platform for as long as one CPU runs and nothing interrupts it: all that a kernel has to
/// provide is where its RAM is.
#[derive(Debug)]
pub struct OneCpu<M> {
    memory: M,
    local: LocalPointer,
}

impl<M: PhysMap> OneCpu<M> {
    /// The platform on this RAM.
    ///
    /// # Safety
    /// Whatever uses the platform runs on one CPU (CPU 0), one thing after the other: no second
    /// CPU or thread, and no interrupt handler.
    pub unsafe fn new(memory: M) -> OneCpu<M> {
        OneCpu { memory, local: LocalPointer::null() }
    }
}

/// The proof that there is nobody else.
#[derive(Debug)]
pub struct Here(CpuToken);

impl AsRef<CpuToken> for Here {
    fn as_ref(&self) -> &CpuToken {
        &self.0
    }
}

// SAFETY: `new` says that there is one CPU and nothing that interrupts it, so a token is true
// whenever it is asked for; the word is this CPU's, and nobody else writes it.
unsafe impl<M: PhysMap + Sync> Cpus for OneCpu<M> {
    type Pin = Here;

    fn pin(&self) -> Here {
        // SAFETY: as above.
        Here(unsafe { CpuToken::assume(CpuId(0)) })
    }

    fn local<'a>(&'a self, _token: &'a CpuToken) -> &'a LocalPointer {
        &self.local
    }

    /// There is nobody to reach.
    fn kick(&self, _cpu: CpuId) {}
}

// SAFETY: `M` keeps the promise.
unsafe impl<M: PhysMap> PhysMap for OneCpu<M> {
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        self.memory.phys_to_virt(addr)
    }
}
