//! Why there is no block.
#![forbid(unsafe_code)]

use core::fmt;

use crate::memblock::BootAllocError;
use crate::units::Order;

/// Why there is no block: what was asked, and what was missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocError {
    /// No zone of the request's set has any frame.
    NoZone,
    /// Every zone of the set is below its mark.
    NoMemory {
        /// What was asked for.
        order: Order,
        /// Free frames in the zones of the set.
        free: u64,
    },
    /// No zone of the set has a free block of this order, though it has frames.
    Fragmented {
        /// What was asked for.
        order: Order,
    },
    /// The token is of another memory subsystem.
    ForeignToken,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocError::NoZone => write!(f, "no node of the request has memory in such a zone"),
            AllocError::NoMemory { order, free } => write!(
                f,
                "no block of order {}: {free} frames are free, which the watermarks keep",
                order.get()
            ),
            AllocError::Fragmented { order } => {
                write!(
                    f,
                    "no block of order {}: memory is free, but in smaller blocks",
                    order.get()
                )
            }
            AllocError::ForeignToken => write!(f, "the token is of another memory subsystem"),
        }
    }
}

impl core::error::Error for AllocError {}

/// Why the hand-over failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandOverError {
    /// No room for metadata.
    NoRoom(BootAllocError),
    /// The map has several nodes, and the crate was built without feature `numa`.
    ManyNodes,
}

impl fmt::Display for HandOverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandOverError::NoRoom(error) => write!(f, "no room for metadata: {error:?}"),
            HandOverError::ManyNodes => write!(f, "several nodes, but built without `numa`"),
        }
    }
}

impl core::error::Error for HandOverError {}

/// What a search met, on its way to an [`AllocError`].
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Refusals {
    pub(super) zones: u32,
    pub(super) free: u64,
    pub(super) fragmented: bool,
}

impl Refusals {
    /// The error that says it. Fragmentation is named only where a zone had frames to give.
    pub(super) fn error(self, order: Order) -> AllocError {
        match self {
            Refusals { zones: 0, .. } => AllocError::NoZone,
            Refusals { fragmented: true, .. } => AllocError::Fragmented { order },
            Refusals { free, .. } => AllocError::NoMemory { order, free },
        }
    }
}
