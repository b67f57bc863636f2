//! Why a zone refuses frames.

use core::fmt;

use crate::units::{Order, Pfn};

/// Why a block was not taken back. The state is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeError {
    /// The frame is beyond every zone; from one zone: beyond its span.
    OutOfRange {
        /// The frame.
        pfn: Pfn,
    },
    /// The frame is in a hole of its zone.
    Hole {
        /// The frame.
        pfn: Pfn,
    },
    /// The frame was never given to the allocator.
    Reserved {
        /// The frame.
        pfn: Pfn,
    },
    /// A block of this order does not begin here.
    Misaligned {
        /// The frame.
        pfn: Pfn,
        /// The order.
        order: Order,
    },
    /// This frame of the block is free already.
    AlreadyFree {
        /// The frame.
        pfn: Pfn,
    },
    /// This frame lies in a CPU's pageset (found with feature `checked` or debug assertions
    /// only).
    Parked {
        /// The frame.
        pfn: Pfn,
    },
    /// The block is of another memory subsystem.
    Foreign,
}

impl fmt::Display for FreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FreeError::OutOfRange { pfn } => write!(f, "frame {:#x} is in no zone", pfn.0),
            FreeError::Hole { pfn } => write!(f, "frame {:#x} is in a hole of its zone", pfn.0),
            FreeError::Reserved { pfn } => write!(f, "frame {:#x} is reserved", pfn.0),
            FreeError::Misaligned { pfn, order } => {
                write!(f, "no block of order {} begins at frame {:#x}", order.get(), pfn.0)
            }
            FreeError::AlreadyFree { pfn } => write!(f, "frame {:#x} is free already", pfn.0),
            FreeError::Parked { pfn } => write!(f, "frame {:#x} is in a pageset", pfn.0),
            FreeError::Foreign => f.write_str("the block is of another memory subsystem"),
        }
    }
}

impl core::error::Error for FreeError {}

/// Why a zone did not take frames over from boot memory. The state is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReleaseError {
    /// The frame is beyond the zone's span, or is frame 0, which is never handed out.
    OutOfRange {
        /// The frame.
        pfn: Pfn,
    },
    /// The frame is in a hole of the zone.
    Hole {
        /// The frame.
        pfn: Pfn,
    },
    /// The frame was released before.
    Managed {
        /// The frame.
        pfn: Pfn,
    },
    /// More separate ranges than the zone's metadata has room for
    /// ([`Zone::metadata_bytes`](super::Zone::metadata_bytes)).
    TooManyRanges,
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReleaseError::OutOfRange { pfn } => write!(f, "frame {:#x} is not in the zone", pfn.0),
            ReleaseError::Hole { pfn } => write!(f, "frame {:#x} is in a hole of the zone", pfn.0),
            ReleaseError::Managed { pfn } => write!(f, "frame {:#x} was released before", pfn.0),
            ReleaseError::TooManyRanges => f.write_str("too many reserved ranges in the zone"),
        }
    }
}

impl core::error::Error for ReleaseError {}

/// Why a zone did not give frames up. The state is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShrinkError {
    /// A frame is not the zone's to give: out of range, in a hole, or reserved.
    NotManaged(FreeError),
    /// The lowest frame that is in use: taken, or parked in a pageset.
    InUse {
        /// The frame.
        pfn: Pfn,
    },
    /// More separate ranges than the zone's metadata has room for
    /// ([`Zone::metadata_bytes`](super::Zone::metadata_bytes)).
    TooManyRanges,
}

impl fmt::Display for ShrinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShrinkError::NotManaged(error) => error.fmt(f),
            ShrinkError::InUse { pfn } => write!(f, "frame {:#x} is in use", pfn.0),
            ShrinkError::TooManyRanges => f.write_str("too many reserved ranges in the zone"),
        }
    }
}

impl core::error::Error for ShrinkError {}
