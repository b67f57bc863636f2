//! The boot allocator: regions of memory with their nodes, regions that are taken, and first fit
//! upward from 16 MiB.
//!
//! In: the node map, and what the kernel must not touch ([`MemBlock::reserve`]). Out: boot
//! allocations on a node, and at the end the free frames ([`MemBlock::free_ranges`]). The hand-over
//! to the zones consumes it, so that a boot allocation after that does not compile.
#![forbid(unsafe_code)]

mod regions;
mod request;

pub(crate) use regions::RegionList;
pub use request::{BootAllocError, BootBlock, BootFallback, BootFallbacks, BootRequest};

use crate::ids::NodeId;
use crate::topology::{NodeMap, NodeRange};
use crate::units::{Pfn, PhysAddr, PhysRange};
use regions::Full;

/// Where boot memory begins (decision 13): below it only when nothing else fits, so that zone DMA
/// keeps its frames.
pub const BOOT_MEMORY_FLOOR: PhysAddr = PhysAddr(16 << 20);

/// Memory for the lists of a [`MemBlock`], provided by the caller. What it holds is overwritten.
pub struct Storage<'m> {
    /// Memory, by node: at least as many as the node map has ranges.
    pub memory: &'m mut [NodeRange],
    /// What is taken: neighbours are one, so some hundred are plenty.
    pub reserved: &'m mut [PhysRange],
}

/// How much boot memory a node has, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BootUsage {
    /// RAM of the node.
    pub memory: u64,
    /// How much of it is reserved or allocated.
    pub reserved: u64,
}

/// The boot allocator.
///
/// ```
/// use nearmem::memblock::{BootRequest, MemBlock, Storage};
/// use nearmem::topology::{HeapRoom, NodeMap, NodeRange, StorageNeeds};
/// use nearmem::{NodeId, PfnRange, PhysRange};
///
/// // A machine of one node, with 64 MiB.
/// let ram = [NodeRange { frames: PfnRange::new(1, 0x4000), node: NodeId(0) }];
/// let mut room = HeapRoom::new(StorageNeeds { nodes: 1, ranges: 1, ..StorageNeeds::default() });
/// let map = NodeMap::from_parts(&ram, &[], |_, _| 10, room.storage());
///
/// let mut memory = [NodeRange::NONE; 1];
/// let mut reserved = [PhysRange::default(); 16];
/// let storage = Storage { memory: &mut memory, reserved: &mut reserved };
/// let mut boot_memory = MemBlock::new(&map, storage);
/// // The kernel's image is at 16 MiB.
/// boot_memory.reserve(PhysRange::new(0x100_0000, 0x120_0000))?;
/// let table = BootRequest { bytes: 5000, align: 4096, node: Some(NodeId(0)), strict: true };
/// let block = boot_memory.alloc(table)?;
/// assert_eq!(block.range, PhysRange::new(0x120_0000, 0x120_0000 + 5000));
/// # Ok::<(), nearmem::memblock::BootAllocError>(())
/// ```
pub struct MemBlock<'m> {
    memory: &'m mut [NodeRange],
    ranges: usize,
    reserved: RegionList<'m>,
    left_out: u64,
    fallbacks: BootFallbacks,
}

impl<'m> MemBlock<'m> {
    /// All memory of the map, nothing taken. Memory without a node is left out, and so is frame 0,
    /// which is never handed out. Ranges for which `storage` has no room are left out, too:
    /// [`left_out`](Self::left_out) counts them.
    pub fn new(map: &NodeMap<'_>, storage: Storage<'m>) -> MemBlock<'m> {
        let Storage { memory, reserved } = storage;
        let mut ranges = 0;
        let mut left_out = 0;
        for &range in map.ranges() {
            let mut range = range;
            range.frames.start = range.frames.start.max(Pfn(1));
            if range.frames.is_empty() {
                continue;
            }
            match memory.get_mut(ranges) {
                Some(slot) => {
                    *slot = range;
                    ranges += 1;
                }
                None => left_out += range.frames.len(),
            }
        }
        let reserved = RegionList::new(reserved);
        MemBlock { memory, ranges, reserved, left_out, fallbacks: BootFallbacks::default() }
    }

    /// Takes a range out, whether or not there is memory; overlap with what is taken is fine.
    pub fn reserve(&mut self, range: PhysRange) -> Result<(), BootAllocError> {
        self.reserved.insert(range).map_err(|Full| BootAllocError::TooManyRanges)
    }

    /// First fit, ascending from 16 MiB: on the node that is wanted, then (unless strict) on any;
    /// each time below 16 MiB last. Which node served is in the answer.
    ///
    /// On the node wanted, low memory is used before another node is: nearness counts more, and a
    /// node that lies below 16 MiB as a whole can serve itself.
    pub fn alloc(&mut self, request: BootRequest) -> Result<BootBlock, BootAllocError> {
        if request.bytes == 0 || !request.align.is_power_of_two() {
            return Err(BootAllocError::BadRequest);
        }
        let wanted = request.node.map(Some);
        let any = (request.node.is_none() || !request.strict).then_some(None);
        let block = wanted
            .into_iter()
            .chain(any)
            .find_map(|node| {
                self.find(&request, node, BOOT_MEMORY_FLOOR)
                    .or_else(|| self.find(&request, node, PhysAddr(0)))
            })
            .ok_or(BootAllocError::NoRoom { bytes: request.bytes })?;
        self.reserve(block.range)?;
        if let Some(wanted) = request.node.filter(|&node| node != block.node) {
            let BootUsage { memory, reserved } = self.usage(wanted);
            let (free, given) = (memory - reserved, block.node);
            self.fallbacks.add(BootFallback { bytes: request.bytes, wanted, free, given });
        }
        Ok(block)
    }

    /// The allocations so far that their node had no room for.
    pub fn fallbacks(&self) -> &BootFallbacks {
        &self.fallbacks
    }

    /// Gives a range back. What of it was not taken stays free.
    pub fn free(&mut self, range: PhysRange) -> Result<(), BootAllocError> {
        self.reserved.remove(range).map_err(|Full| BootAllocError::TooManyRanges)
    }

    /// Memory by node, ascending by address.
    pub fn memory(&self) -> &[NodeRange] {
        &self.memory[..self.ranges]
    }

    /// What is taken, ascending and disjoint. Ranges that touch are one.
    pub fn reserved(&self) -> &[PhysRange] {
        self.reserved.as_slice()
    }

    /// How many separate ranges of a range of addresses are taken, in whole or in part.
    pub fn reserved_within(&self, range: PhysRange) -> u64 {
        self.reserved.count_within(range)
    }

    /// Whole free frames, ascending, each range of one node. Never frame 0.
    pub fn free_ranges(&self) -> impl Iterator<Item = NodeRange> + '_ {
        self.memory().iter().flat_map(move |memory| {
            self.reserved
                .gaps(memory.frames.bytes())
                .map(|gap| NodeRange { frames: gap.whole_frames(), node: memory.node })
                .filter(|free| !free.frames.is_empty())
        })
    }

    /// Frames for which the list of memory had no room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// How much memory a node has, and how much of it is taken.
    pub fn usage(&self, node: NodeId) -> BootUsage {
        let mut usage = BootUsage::default();
        for range in self.memory().iter().filter(|range| range.node == node) {
            let bytes = range.frames.bytes();
            let free: u64 = self.reserved.gaps(bytes).map(PhysRange::len).sum();
            usage.memory += bytes.len();
            usage.reserved += bytes.len() - free;
        }
        usage
    }

    /// Linux's `dma_reserve` in frames: RAM below 16 MiB less the free frames there (reference:
    /// zones-and-zonelists, section 1). An input of [`kernel_pages`](crate::zone::kernel_pages).
    pub fn dma_reserve(&self) -> u64 {
        let low = crate::zone::ZoneKind::Dma.frames();
        let ram: u64 = self.memory().iter().map(|range| range.frames.intersect(low).len()).sum();
        let free: u64 = self.free_ranges().map(|range| range.frames.intersect(low).len()).sum();
        ram - free
    }

    /// The lowest place at or above `floor`, on `node` or on any.
    fn find(
        &self,
        request: &BootRequest,
        node: Option<NodeId>,
        floor: PhysAddr,
    ) -> Option<BootBlock> {
        self.memory().iter().filter(|memory| node.is_none_or(|node| node == memory.node)).find_map(
            |memory| {
                let bytes = memory.frames.bytes();
                let within = PhysRange { start: bytes.start.max(floor), end: bytes.end };
                self.reserved.gaps(within).find_map(|gap| {
                    let start = gap.start.0.checked_next_multiple_of(request.align)?;
                    let end = start.checked_add(request.bytes)?;
                    (end <= gap.end.0)
                        .then(|| BootBlock { range: PhysRange::new(start, end), node: memory.node })
                })
            },
        )
    }
}
