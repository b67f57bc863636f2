//! The boot allocator: regions of memory with their nodes, regions that are taken, and first fit
//! upward from 16 MiB. The hand-over to the zones consumes it, so that a boot allocation after
//! that does not compile.

use crate::ids::NodeId;
use crate::topology::{NodeMap, NodeRange};
use crate::units::{PhysAddr, PhysRange};

/// Where boot memory begins (decision 13): below it only when nothing else fits.
pub const BOOT_MEMORY_FLOOR: PhysAddr = PhysAddr(16 << 20);

/// Memory for the lists of a [`MemBlock`], provided by the caller.
pub struct Storage<'m> {
    /// Memory, by node: at least as many as the node map has ranges.
    pub memory: &'m mut [NodeRange],
    /// What is taken: neighbours are one, so some hundred are plenty.
    pub reserved: &'m mut [PhysRange],
}

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
    /// The bytes.
    pub range: PhysRange,
    /// The node they are on, which is another than the one asked for after a fallback.
    pub node: NodeId,
}

/// Why the boot allocator gave nothing.
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

/// The boot allocator.
pub struct MemBlock<'m> {
    storage: Storage<'m>,
}

#[allow(unused_variables)]
impl<'m> MemBlock<'m> {
    /// All memory of the map, nothing taken. Memory without a node is left out.
    pub fn new(map: &NodeMap<'_>, storage: Storage<'m>) -> MemBlock<'m> {
        todo!()
    }
    /// Takes a range out, whether or not there is memory; overlap with what is taken is fine.
    pub fn reserve(&mut self, range: PhysRange) -> Result<(), BootAllocError> {
        todo!()
    }
    /// First fit, ascending from 16 MiB: on the node that is wanted, then (unless strict) on any;
    /// each time below 16 MiB last.
    pub fn alloc(&mut self, request: BootRequest) -> Result<BootBlock, BootAllocError> {
        todo!()
    }
    /// Gives a range back.
    pub fn free(&mut self, range: PhysRange) -> Result<(), BootAllocError> {
        todo!()
    }
    /// Memory by node, ascending.
    pub fn memory(&self) -> &[NodeRange] {
        &self.storage.memory
    }
    /// What is taken, ascending and disjoint.
    pub fn reserved(&self) -> &[PhysRange] {
        &self.storage.reserved
    }
    /// Whole free frames, ascending, each range of one node.
    pub fn free_ranges(&self) -> impl Iterator<Item = NodeRange> + '_ {
        core::iter::empty()
    }
}
