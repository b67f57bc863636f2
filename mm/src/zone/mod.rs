//! Zones: the frames of one node within one range of addresses, and the structure that keeps
//! their free ones.

use core::fmt;

use crate::ids::NodeId;
use crate::platform::{CpuToken, PhysMap};
use crate::topology::NodeMap;
use crate::units::{Order, Pfn, PfnRange, PhysRange};

/// Which addresses a zone has. The order is Linux's, and its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ZoneKind {
    /// Below 16 MiB.
    Dma = 0,
    /// From 16 MiB to 4 GiB.
    Dma32 = 1,
    /// From 4 GiB on.
    Normal = 2,
}

impl ZoneKind {
    /// All kinds, ascending.
    pub const ALL: [ZoneKind; 3] = [ZoneKind::Dma, ZoneKind::Dma32, ZoneKind::Normal];

    /// The frames that such a zone may have.
    pub const fn frames(self) -> PfnRange {
        const MIB: u64 = 1 << 20;
        match self {
            ZoneKind::Dma => PfnRange::new(0, 16 * MIB >> 12),
            ZoneKind::Dma32 => PfnRange::new(16 * MIB >> 12, 4096 * MIB >> 12),
            ZoneKind::Normal => PfnRange::new(4096 * MIB >> 12, 1 << 52),
        }
    }

    /// Linux's name: `DMA`, `DMA32`, `Normal`.
    pub const fn name(self) -> &'static str {
        match self {
            ZoneKind::Dma => "DMA",
            ZoneKind::Dma32 => "DMA32",
            ZoneKind::Normal => "Normal",
        }
    }
}

impl fmt::Display for ZoneKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A zone's place: its node and kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ZoneId {
    /// The node.
    pub node: NodeId,
    /// Which addresses.
    pub kind: ZoneKind,
}

/// How many frames a zone spans and has (reference: zones-and-zonelists, section 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneSpan {
    /// Which zone.
    pub id: ZoneId,
    /// From its first frame to its last, holes included.
    pub span: PfnRange,
    /// Frames with RAM of this node.
    pub present: u64,
}

/// The span of one zone; `present` is 0 when the node has no memory there.
#[allow(unused_variables)]
pub fn zone_span(map: &NodeMap<'_>, id: ZoneId) -> ZoneSpan {
    todo!()
}

/// Linux's `nr_kernel_pages`, in frames: what the sizes of the hash tables are computed from
/// (reference: large-system-hash, the 6.1 rule).
#[allow(unused_variables)]
pub fn kernel_pages(map: &NodeMap<'_>) -> u64 {
    todo!()
}

/// The structure that keeps the free frames of one contiguous range (decision 6): two
/// implementations run the same tests and benchmarks.
///
/// Offsets are in frames from `range.start` rounded down to a multiple of 1024; blocks are
/// aligned by frame number.
pub trait FreeFrames: Send + Sized {
    /// Bytes of metadata for a range. Aligned to 64 bytes.
    fn metadata_bytes(frames: PfnRange) -> u64;
    /// Makes the structure, with no frame free. `memory` holds garbage.
    ///
    /// # Safety
    /// `memory` points to `metadata_bytes(frames)` bytes, aligned to 64, that are nobody else's
    /// as long as the structure lives.
    unsafe fn new(frames: PfnRange, memory: *mut u8) -> Self;
    /// Takes a block; `None` when there is none of this order or above.
    fn take(&mut self, order: Order) -> Option<Pfn>;
    /// Puts a block back, merging it. Nothing changes on an error.
    fn put(&mut self, block: Pfn, order: Order) -> Result<(), FreeError>;
    /// Free frames.
    fn free(&self) -> u64;
    /// Free blocks of exactly this order.
    fn blocks(&self, order: Order) -> u64;
    /// Whether this frame is free.
    fn is_free(&self, frame: Pfn) -> bool;
}

/// Why a block was not taken back. The state is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeError {
    /// The frame is beyond every zone.
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
    /// This frame lies in a CPU's pageset (found with feature `checked` only).
    Parked {
        /// The frame.
        pfn: Pfn,
    },
    /// The block is of another memory subsystem.
    Foreign,
}

/// A zone at run time. Shared by all CPUs.
pub struct Zone<'m> {
    _x: core::marker::PhantomData<&'m ()>,
}

/// The three watermarks, in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watermarks {
    /// Ordinary requests leave this much.
    pub min: u64,
    /// The first pass leaves this much.
    pub low: u64,
    /// Reclaim would stop here.
    pub high: u64,
}

#[allow(unused_variables, missing_docs)]
impl<'m> Zone<'m> {
    /// Bytes of metadata for a zone, which the caller provides on the zone's node.
    pub fn metadata_bytes(map: &NodeMap<'_>, id: ZoneId) -> u64 {
        todo!()
    }
    /// Makes the zone, all frames reserved. `memory` holds garbage.
    ///
    /// # Safety
    /// `memory` is `metadata_bytes` of RAM that is nobody else's for `'m`, and the platform's
    /// direct map of it lives as long.
    pub unsafe fn new<P: PhysMap>(
        map: &NodeMap<'_>,
        id: ZoneId,
        memory: PhysRange,
        platform: &P,
    ) -> Zone<'m> {
        todo!()
    }
    /// Gives reserved frames of this zone to it, as free; they count as managed from now on.
    pub fn release(&self, token: &CpuToken, frames: PfnRange) -> Result<(), FreeError> {
        todo!()
    }
    pub fn id(&self) -> ZoneId {
        todo!()
    }
    pub fn span(&self) -> PfnRange {
        todo!()
    }
    pub fn present(&self) -> u64 {
        todo!()
    }
    pub fn managed(&self) -> u64 {
        todo!()
    }
    /// Free frames; those parked in pagesets are not free.
    pub fn free(&self) -> u64 {
        todo!()
    }
    pub fn blocks(&self, token: &CpuToken, order: Order) -> u64 {
        todo!()
    }
    /// Whether the frame is RAM of this zone.
    pub fn contains(&self, pfn: Pfn) -> bool {
        todo!()
    }
    pub fn take(&self, token: &CpuToken, order: Order) -> Option<Pfn> {
        todo!()
    }
    /// Takes single frames, as many as `into` has room for, under one lock; says how many.
    pub fn take_batch(&self, token: &CpuToken, into: &mut [Pfn]) -> usize {
        todo!()
    }
    pub fn put(&self, token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError> {
        todo!()
    }
    /// Puts single frames back under one lock. They were taken from this zone.
    pub fn put_batch(&self, token: &CpuToken, frames: &[Pfn]) {
        todo!()
    }
    pub fn watermarks(&self) -> Watermarks {
        todo!()
    }
    pub fn set_watermarks(&self, marks: Watermarks) {
        todo!()
    }
    /// Frames that a request which could use zone `limit` leaves in this one (lowmem reserve).
    pub fn protection(&self, limit: ZoneKind) -> u64 {
        todo!()
    }
    pub fn set_protection(&self, limit: ZoneKind, frames: u64) {
        todo!()
    }
    /// Frames of blocks that were dropped without being freed or leaked on purpose.
    pub fn leaked(&self) -> u64 {
        todo!()
    }
    /// Counts a dropped block.
    pub fn count_leaked(&self, frames: u64) {
        todo!()
    }
}
