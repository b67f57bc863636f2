//! Requests to frames: zonelists, watermarks, policies, counters, and the page allocator.

use core::marker::PhantomData;

use crate::ids::{NodeId, NodeSet};
use crate::memblock::MemBlock;
use crate::platform::{CpuToken, Platform};
use crate::topology::NodeMap;
use crate::units::{Order, Pfn};
use crate::zone::{FreeError, Zone, ZoneId, ZoneKind};

/// On which nodes a request looks.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// The running CPU's node first, then by distance.
    Local,
    /// This node first, then by distance from it.
    Preferred(NodeId),
    /// These nodes only, nearest to the running CPU first.
    Bind(&'a NodeSet),
    /// The next node in turn first, then by distance from it.
    Interleave(&'a Interleave),
}

/// An interleave policy: a set of nodes and whose turn it is. It belongs to one task.
#[derive(Debug)]
pub struct Interleave {
    nodes: NodeSet,
    next: core::cell::Cell<NodeId>,
}

/// A request for a block of frames.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// How many frames, as an order.
    pub order: Order,
    /// The highest zone that may serve.
    pub zone_limit: ZoneKind,
    /// On which nodes to look.
    pub policy: Policy<'a>,
    /// Fill the block with zeros.
    pub zero: bool,
}

/// An allocated block of frames. Move-only; freeing takes it. A block that is merely dropped is
/// lost, and counted as such.
#[must_use = "a dropped block is lost; free it or leak it"]
pub struct FrameBlock<'m> {
    zone: &'m Zone<'m>,
    pfn: Pfn,
    order: Order,
}

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
}

/// The proof of "this CPU, interrupts off", with the CPU's own block.
pub struct LocalCpu<'a, P: Platform> {
    pin: P::Pin,
    _x: PhantomData<&'a ()>,
}

/// Where the pagesets live (`pageset=`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PagesetPlacement {
    /// On the CPU's node (2005 and after).
    #[default]
    Local,
    /// On the zone's node (before).
    Zone,
}

/// What can be chosen at the hand-over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Where the pagesets live.
    pub pagesets: PagesetPlacement,
    /// `min_free_kbytes=`, in kB; `None`: by the formula.
    pub min_free_kbytes: Option<u64>,
    /// `watermark_scale_factor=`, in 1/10000 of a zone's managed frames; `None`: 10.
    pub watermark_scale_factor: Option<u32>,
}

/// Zones, pagesets and zonelists of one machine.
pub struct MemorySubsystem<'m, P: Platform> {
    platform: P,
    _m: PhantomData<&'m ()>,
}

/// Why the hand-over failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandOverError {
    /// No room for metadata.
    NoRoom(crate::memblock::BootAllocError),
}

#[allow(unused_variables, missing_docs)]
impl<'m, P: Platform> MemorySubsystem<'m, P> {
    /// Builds zones, zonelists and boot pagesets and hands all free boot memory to the zones,
    /// each zone's metadata on its own node.
    ///
    /// # Safety
    /// All memory of `boot_memory` is RAM, reachable through the platform for `'m`, and what is
    /// not reserved there is nobody's.
    pub unsafe fn hand_over(
        boot_memory: MemBlock<'_>,
        map: &'m NodeMap<'m>,
        platform: P,
        options: Options,
    ) -> Result<Self, HandOverError> {
        todo!()
    }
    /// Gives every CPU its real pagesets. Until then each freed frame goes straight to its zone.
    pub fn set_up_pagesets(&self) -> Result<(), AllocError> {
        todo!()
    }
    /// Interrupts off: the proof for `try_alloc` and `try_free`.
    pub fn pin(&self) -> LocalCpu<'_, P> {
        todo!()
    }
    /// Allocates without ever waiting.
    pub fn try_alloc(
        &'m self,
        cpu: &LocalCpu<'_, P>,
        request: &Request<'_>,
    ) -> Result<FrameBlock<'m>, AllocError> {
        todo!()
    }
    /// Frees without ever waiting.
    pub fn try_free(&self, cpu: &LocalCpu<'_, P>, block: FrameBlock<'_>) -> Result<(), FreeError> {
        todo!()
    }
    /// Allocates; drains pagesets of all CPUs before it gives up. Never with a token held.
    pub fn alloc(&'m self, request: &Request<'_>) -> Result<FrameBlock<'m>, AllocError> {
        todo!()
    }
    /// Frees.
    pub fn free(&self, block: FrameBlock<'_>) -> Result<(), FreeError> {
        todo!()
    }
    /// Returns all parked frames of all CPUs to their zones.
    pub fn drain_all(&self) {
        todo!()
    }
    pub fn platform(&self) -> &P {
        &self.platform
    }
    pub fn map(&self) -> &'m NodeMap<'m> {
        todo!()
    }
    pub fn zones(&self) -> &'m [Zone<'m>] {
        todo!()
    }
    pub fn zone(&self, id: ZoneId) -> Option<&'m Zone<'m>> {
        todo!()
    }
    pub fn zone_of(&self, pfn: Pfn) -> Option<&'m Zone<'m>> {
        todo!()
    }
    /// Nodes by distance from `node`, itself first (memory or not), then those with memory.
    pub fn fallback_order(&self, node: NodeId) -> &'m [NodeId] {
        todo!()
    }
}

#[allow(unused_variables, missing_docs)]
impl<'m> FrameBlock<'m> {
    pub fn pfn(&self) -> Pfn {
        self.pfn
    }
    pub fn order(&self) -> Order {
        self.order
    }
    pub fn zone(&self) -> ZoneId {
        todo!()
    }
    /// Gives up ownership for good, or until [`FrameBlock::from_raw`].
    pub fn leak(self) -> Pfn {
        todo!()
    }
    /// The raw door.
    ///
    /// # Safety
    /// The block was allocated from `mm`, leaked, and is not parked; nobody else claims it.
    pub unsafe fn from_raw<P: Platform>(
        mm: &MemorySubsystem<'m, P>,
        pfn: Pfn,
        order: Order,
    ) -> Result<FrameBlock<'m>, FreeError> {
        todo!()
    }
}
