//! The interface of what keeps a zone's free frames (decision 6): implementations run the same
//! tests and benchmarks.
#![forbid(unsafe_code)]

use super::{Cursor, FreeError, RawMemory, ReleaseError, RowBatch};
use crate::platform::CpuToken;
use crate::units::{Order, Pfn, PfnRange};

/// The free frames of one zone, shared by all CPUs.
///
/// Blocks are aligned by absolute frame number; ranges may begin and end anywhere. A frame is
/// reserved until it is released; then it is free or taken. Nothing changes on an error.
pub trait FreeFrames<'m>: Send + Sync + Sized {
    /// Bytes of metadata for a zone with these ranges, a multiple of 64. They are used from a
    /// multiple of 64 on.
    fn metadata_bytes(ranges: impl Iterator<Item = PfnRange>) -> u64;
    /// Makes the structure for a zone that reaches over `span`, all frames reserved. `ranges`, as
    /// many as `count`, are what of it is RAM: ascending, disjoint, and not empty. `None` when
    /// `memory` has less than `metadata_bytes`.
    fn new(
        span: PfnRange,
        count: u64,
        ranges: impl Iterator<Item = PfnRange>,
        memory: RawMemory<'m>,
    ) -> Option<Self>;
    /// The ranges, ascending.
    fn ranges(&self) -> &'m [PfnRange];

    /// Makes reserved frames, all of one range, free.
    fn release(&self, token: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError>;
    /// Takes a block; `None` when there is none of this order. `cursor` is this CPU's own.
    fn take(&self, token: &CpuToken, cursor: &Cursor, order: Order) -> Option<Pfn>;
    /// Puts a block back, or an aligned part of one. The error names the lowest frame of the block
    /// that is no frame of the zone's, or else the lowest that is free already.
    fn put(&self, token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError>;

    /// Takes single frames and adds them to `into`, which is empty: at most `wanted`, and fewer
    /// where they are scattered; says how many. 0 only when there is none.
    fn take_batch(
        &self,
        token: &CpuToken,
        cursor: &Cursor,
        wanted: u16,
        into: &mut RowBatch,
    ) -> u16 {
        let mut taken = 0;
        while taken < wanted && into.room() > 0 {
            let Some(frame) = self.take(token, cursor, Order::ZERO) else { break };
            into.add(frame);
            taken += 1;
        }
        taken
    }
    /// Puts single frames back. One that was not taken is left out, the others are put back, and
    /// the first such error is returned.
    fn put_batch(&self, token: &CpuToken, frames: &RowBatch) -> Option<FreeError> {
        frames.iter().fold(None, |first, frame| {
            let error = self.put(token, frame, Order::ZERO).err();
            first.or(error)
        })
    }

    /// Free frames; never less than what can be taken.
    fn free(&self) -> u64;
    /// Free blocks of exactly each order: the largest aligned blocks that the free frames make.
    /// While other CPUs work, some recent numbers.
    fn blocks(&self, token: &CpuToken) -> [u64; Order::COUNT];
    /// Whether this frame is free; false outside the zone.
    fn is_free(&self, token: &CpuToken, frame: Pfn) -> bool;
    /// Whether this frame was released.
    fn is_managed(&self, token: &CpuToken, frame: Pfn) -> bool;
}
