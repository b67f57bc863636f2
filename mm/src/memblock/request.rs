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
