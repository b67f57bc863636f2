//! The interface of what keeps free frames (decision 6): implementations run the same tests and
//! benchmarks.

use super::{FreeError, RawMemory};
use crate::units::{Order, Pfn, PfnRange};

/// The free frames of one contiguous range.
///
/// Blocks are aligned by absolute frame number; the range may begin and end anywhere. Whoever
/// has `&mut` is alone with it, so nothing here is atomic: the zone's lock sees to that.
pub trait FreeFrames<'m>: Send + Sized {
    /// Bytes of metadata for a range, a multiple of 64. They are used from a multiple of 64 on.
    fn metadata_bytes(frames: PfnRange) -> u64;
    /// Makes the structure, with no frame free. `None` when `memory` has less than
    /// `metadata_bytes` left.
    fn new(frames: PfnRange, memory: &mut RawMemory<'m>) -> Option<Self>;
    /// Takes the lowest block of the smallest order that will do, and of it the lower end; `None`
    /// when there is none of this order or above.
    fn take(&mut self, order: Order) -> Option<Pfn>;
    /// Puts a block back, merging it with free buddies up to order 10. Nothing changes on an
    /// error: out of range (not wholly in the range), misaligned, or already free, which names
    /// the lowest frame of the block that is free already.
    fn put(&mut self, block: Pfn, order: Order) -> Result<(), FreeError>;
    /// Free frames.
    fn free(&self) -> u64;
    /// Free blocks of exactly this order.
    fn blocks(&self, order: Order) -> u64;
    /// Whether this frame is free; false outside the range.
    fn is_free(&self, frame: Pfn) -> bool;

    /// The order of the block from which `take(order)` would be served.
    fn smallest(&self, order: Order) -> Option<Order> {
        Order::all().skip(order.index()).find(|&order| self.blocks(order) > 0)
    }
}
