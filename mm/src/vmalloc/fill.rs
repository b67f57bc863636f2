//! Frames for an area, and their places in it.

use crate::alloc::{FrameBlock, Interleave, MemorySubsystem, Policy, Request};
use crate::ids::NodeId;
use crate::platform::{MapSize, Mapping, Platform};
use crate::units::{Order, PAGE_SIZE, Pfn, VirtAddr};

use super::tables::TableStock;
use super::{VmRequest, VmallocError};

/// Single frames are asked for in batches of so many.
const BATCH: u64 = 100;

/// Puts frames into an area, from its start to its end.
pub(super) struct Fill<'a, 'm, P: Platform> {
    pub(super) mm: &'a MemorySubsystem<'m, P>,
    pub(super) tables: TableStock<'a, 'm, P>,
    /// Where the next frame goes.
    pub(super) at: VirtAddr,
    pub(super) end: VirtAddr,
    pub(super) zero: bool,
}

impl<'m, P: Platform> Fill<'_, 'm, P> {
    /// Fills the area with 2 MiB blocks, one step of the policy each.
    pub(super) fn huge(&mut self, request: &VmRequest<'_>) -> Result<(), VmallocError> {
        while self.at < self.end {
            self.one(MapSize::Huge, request.policy)?;
        }
        Ok(())
    }

    /// Fills the area with single frames: batches while the nodes have memory, then one by one
    /// (reference: vmalloc, section 2; large-system-hash, section 4).
    pub(super) fn small(&mut self, request: &VmRequest<'_>) -> Result<(), VmallocError> {
        let mut in_batches = true;
        loop {
            let left = self.left();
            if left == 0 {
                return Ok(());
            }
            if !in_batches {
                self.one(MapSize::Small, request.policy)?;
                continue;
            }
            let batch = left.min(BATCH);
            match request.policy {
                Policy::Interleave(turns) => self.batch_over(turns, batch)?,
                Policy::Preferred(node) => self.run(node, batch)?,
                Policy::Local => {
                    let node = self.mm.pin().node();
                    self.run(node, batch)?;
                }
                Policy::Bind(_) | Policy::PreferredMany(_) | Policy::WeightedInterleave(_) => {}
            }
            in_batches = self.left() == left - batch;
        }
    }

    fn left(&self) -> u64 {
        (self.end.0 - self.at.0) / PAGE_SIZE
    }

    /// A batch in one run for each node in turn; the first nodes get one frame more where the
    /// batch does not divide evenly.
    fn batch_over(&mut self, turns: &Interleave, batch: u64) -> Result<(), VmallocError> {
        let nodes = turns.nodes().len() as u64;
        let (each, more) = match nodes {
            0 => return Ok(()),
            nodes => (batch / nodes, batch % nodes),
        };
        for turn in 0..nodes {
            let Some(node) = turns.step() else { break };
            self.run(node, each + u64::from(turn < more))?;
        }
        Ok(())
    }

    /// Up to `count` frames of `node`. Where it has none to spare, one frame from the nearest node
    /// that has.
    fn run(&mut self, node: NodeId, count: u64) -> Result<(), VmallocError> {
        let mut frames = [Pfn(0); BATCH as usize];
        let mut got = 0;
        if count > 1 {
            let count = (count as usize).min(frames.len());
            self.mm.alloc_bulk(node, count, &mut |block| {
                if let Some(frame) = frames.get_mut(got) {
                    *frame = block.leak();
                    got += 1;
                }
            });
        }
        if got == 0 && count > 0 {
            return self.one(MapSize::Small, Policy::Preferred(node));
        }
        let mut result = Ok(());
        for &frame in frames.iter().take(got) {
            match result {
                // SAFETY: allocated just now and leaked; each frame once.
                Ok(()) => result = unsafe { self.put(frame, MapSize::Small) },
                // SAFETY: as above.
                Err(_) => unsafe { free(self.mm, frame, Order::ZERO) },
            }
        }
        result
    }

    fn one(&mut self, leaf: MapSize, policy: Policy<'_>) -> Result<(), VmallocError> {
        let request = Request::new(leaf.order()).on(policy);
        let block = self.mm.alloc(&request).map_err(VmallocError::NoFrame)?;
        // SAFETY: allocated just now and leaked.
        unsafe { self.put(block.leak(), leaf) }
    }

    /// Puts a block at its place, or frees it.
    ///
    /// # Safety
    /// The block is allocated, leaked and nobody else's.
    unsafe fn put(&mut self, pfn: Pfn, leaf: MapSize) -> Result<(), VmallocError> {
        if self.zero {
            let memory = self.mm.platform().phys_to_virt(pfn.addr());
            // SAFETY: the block is ours, and RAM of the platform.
            unsafe { memory.write_bytes(0, leaf.bytes() as usize) };
        }
        // SAFETY: the block is ours and goes to this place only; the area keeps others off it.
        let mapped = unsafe { self.tables.map(self.at, Mapping { pfn, size: leaf }) };
        match mapped {
            Ok(()) => self.at = self.at + leaf.bytes(),
            // SAFETY: the block is ours, and was not mapped.
            Err(_) => unsafe { free(self.mm, pfn, leaf.order()) },
        }
        mapped
    }
}

/// Frees a block through the raw door.
///
/// # Safety
/// The block is allocated from `mm`, leaked, nobody else's, and mapped nowhere.
pub(super) unsafe fn free<P: Platform>(mm: &MemorySubsystem<'_, P>, pfn: Pfn, order: Order) {
    // SAFETY: the caller's promise.
    let freed = unsafe { FrameBlock::from_raw(mm, pfn, order) }.and_then(|block| mm.free(block));
    debug_assert_eq!(freed, Ok(()), "a block of vmalloc's own is free to be freed");
}
