//! What is asked of vmalloc, and why it may not be had.

use core::fmt;

use crate::alloc::{AllocError, Policy};
use crate::platform::MapError;
use crate::units::VirtAddr;

/// A request for memory behind one range of addresses.
#[derive(Clone, Copy, Debug)]
pub struct VmRequest<'a> {
    /// How much, in bytes, at least 1; rounded up to whole pages.
    pub bytes: u64,
    /// Which nodes the frames come from. With [`Policy::Preferred`] and [`Policy::Local`] they
    /// come from one node while it has memory above its low marks; with [`Policy::Interleave`] in
    /// runs (reference: large-system-hash, section 4), with [`Policy::WeightedInterleave`] one by one.
    pub policy: Policy<'a>,
    /// Fill it with zeros.
    pub zero: bool,
    /// Use 2 MiB pages where the size allows it, [`Vmalloc`](super::Vmalloc) says when.
    pub allow_huge: bool,
    /// Who asks, for reports.
    pub caller: &'static str,
}

impl<'a> VmRequest<'a> {
    /// So many bytes, near the running CPU, in 4 KiB pages, contents undefined.
    pub const fn new(bytes: u64) -> VmRequest<'a> {
        VmRequest { bytes, policy: Policy::Local, zero: false, allow_huge: false, caller: "" }
    }

    /// The same from other nodes.
    pub const fn on(self, policy: Policy<'a>) -> VmRequest<'a> {
        VmRequest { policy, ..self }
    }

    /// The same, filled with zeros.
    pub const fn zeroed(self) -> VmRequest<'a> {
        VmRequest { zero: true, ..self }
    }

    /// The same, in 2 MiB pages where the size allows it.
    pub const fn huge(self) -> VmRequest<'a> {
        VmRequest { allow_huge: true, ..self }
    }

    /// The same, with a name for reports.
    pub const fn named(self, caller: &'static str) -> VmRequest<'a> {
        VmRequest { caller, ..self }
    }
}

/// Why there is no area. Nothing is left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VmallocError {
    /// 0 bytes were asked for.
    Empty,
    /// More was asked for than the machine has.
    TooLarge {
        /// What was asked for, in bytes.
        bytes: u64,
        /// What the zones have, in bytes.
        memory: u64,
    },
    /// No gap in vmalloc's addresses is large enough.
    NoAddresses {
        /// What was asked for, in bytes.
        bytes: u64,
    },
    /// No frame, for the area, for its page tables or for vmalloc's own record of it.
    NoFrame(AllocError),
    /// The platform did not map a frame.
    Map {
        /// Where.
        at: VirtAddr,
        /// Why.
        error: MapError,
    },
}

impl fmt::Display for VmallocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VmallocError::Empty => write!(f, "vmalloc of 0 bytes"),
            VmallocError::TooLarge { bytes, memory } => {
                write!(f, "vmalloc of {bytes} bytes on a machine that has {memory}")
            }
            VmallocError::NoAddresses { bytes } => {
                write!(f, "no range of vmalloc's addresses is free for {bytes} bytes")
            }
            VmallocError::NoFrame(error) => error.fmt(f),
            VmallocError::Map { at, error } => write!(f, "nothing mapped at {at:?}: {error:?}"),
        }
    }
}

impl core::error::Error for VmallocError {}

/// Why nothing was freed. The state is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VfreeError {
    /// The area is another [`Vmalloc`](super::Vmalloc)'s.
    Foreign,
    /// No live area starts there.
    NoArea {
        /// The address.
        at: VirtAddr,
    },
}

impl fmt::Display for VfreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VfreeError::Foreign => write!(f, "vfree of an area of another vmalloc"),
            VfreeError::NoArea { at } => write!(f, "vfree of {at:?}, where no area starts"),
        }
    }
}

impl core::error::Error for VfreeError {}
