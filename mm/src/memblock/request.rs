//! What the boot allocator is asked, what it gives, and why it does not.

use core::fmt;

use crate::ids::NodeId;
use crate::units::PhysRange;

/// A request to the boot allocator.
#[derive(Clone, Copy, Debug)]
pub struct BootRequest {
    /// Bytes, at least 1.
    pub bytes: u64,
    /// A power of two, in bytes.
    pub align: u64,
    /// The node that is wanted; `None`: the lowest address that fits.
    pub node: Option<NodeId>,
    /// Take memory of no other node.
    pub strict: bool,
}

/// What the boot allocator gave out. It stays reserved for good unless it is freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BootBlock {
    /// The bytes: as many as were asked for.
    pub range: PhysRange,
    /// The node they are on, which is another than the one asked for after a fallback.
    pub node: NodeId,
}

/// A boot allocation that the node it was meant for had no room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BootFallback {
    /// What was asked for, in bytes.
    pub bytes: u64,
    /// The node that was wanted.
    pub wanted: NodeId,
    /// What that node still had free, in bytes, in ranges that were all too small.
    pub free: u64,
    /// The node that gave it.
    pub given: NodeId,
}

impl fmt::Display for BootFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BootFallback { bytes, wanted, free, given } = self;
        write!(f, "boot memory of {bytes} bytes for Node {wanted} is on Node {given}: ")?;
        write!(f, "Node {wanted} has {free} bytes free, nowhere as many in one piece")
    }
}

/// Fallbacks that are kept; more are only counted.
const FALLBACKS: usize = 8;

/// The boot allocations that fell back, the first of them each by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BootFallbacks {
    first: [Option<BootFallback>; FALLBACKS],
    count: u32,
}

impl BootFallbacks {
    pub(super) fn add(&mut self, fallback: BootFallback) {
        if let Some(place) = self.first.get_mut(self.count as usize) {
            *place = Some(fallback);
        }
        self.count = self.count.saturating_add(1);
    }

    /// The first ones, in order.
    pub fn first(&self) -> impl Iterator<Item = &BootFallback> {
        self.first.iter().flatten()
    }

    /// How many there were in all.
    pub fn count(&self) -> u32 {
        self.count
    }
}

/// Why the boot allocator gave nothing. Its state is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BootAllocError {
    /// No free range is large enough.
    NoRoom {
        /// What was asked for, in bytes.
        bytes: u64,
    },
    /// The list of reserved ranges is full.
    TooManyRanges,
    /// 0 bytes, or an alignment that is no power of two.
    BadRequest,
}

impl fmt::Display for BootAllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootAllocError::NoRoom { bytes } => {
                write!(f, "no free range of {bytes} bytes in boot memory")
            }
            BootAllocError::TooManyRanges => f.write_str("the list of reserved ranges is full"),
            BootAllocError::BadRequest => {
                f.write_str("a boot allocation of 0 bytes, or aligned to no power of two")
            }
        }
    }
}

impl core::error::Error for BootAllocError {}
