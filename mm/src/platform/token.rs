//! The proof of "this CPU, interrupts off".

use core::marker::PhantomData;

use crate::ids::CpuId;
use crate::sync::LocalPointer;

/// Proof that the caller runs on one CPU with interrupts off, and stays there as long as the
/// token lives. Functions take it by reference instead of switching interrupts off again.
///
/// It can be neither sent to nor shared with another thread.
#[derive(Debug)]
pub struct CpuToken {
    cpu: CpuId,
    here: PhantomData<*mut ()>,
}

impl CpuToken {
    /// Claims the proof.
    ///
    /// # Safety
    /// The caller runs on `cpu` with interrupts off, and both stay so until the token is gone.
    /// On one CPU several tokens may live, one inside the other, on one stack only: nothing that
    /// can interrupt the holder (an NMI, a machine check) uses the memory subsystem.
    pub const unsafe fn assume(cpu: CpuId) -> CpuToken {
        CpuToken { cpu, here: PhantomData }
    }

    /// The CPU that the holder runs on.
    pub const fn cpu(&self) -> CpuId {
        self.cpu
    }
}

/// The CPUs: how to stay on one, and how to reach another.
///
/// # Safety
/// The token inside a [`Pin`](Cpus::Pin) is true as long as the pin lives (see
/// [`CpuToken::assume`]), pins may nest, and no two CPUs that run at the same time have the same
/// id. [`local`](Cpus::local) gives each CPU a word of its own, always the same, null at first,
/// which nobody writes but the caller.
pub unsafe trait Cpus: Sync {
    /// Keeps interrupts off while it lives and puts them back as they were.
    type Pin: AsRef<CpuToken>;

    /// Switches interrupts off and says which CPU this is.
    fn pin(&self) -> Self::Pin;

    /// A word in the CPU's own memory, in which the memory subsystem keeps where the CPU's block
    /// is, so that it need not read anything else to find it.
    fn local<'a>(&'a self, token: &'a CpuToken) -> &'a LocalPointer;

    /// Makes `cpu` look at its request word soon (an IPI). A platform whose CPUs all look by
    /// themselves, in their idle loop or before they allocate, may do nothing.
    fn kick(&self, cpu: CpuId);
}
