//! Structures in metadata memory that is exactly as large as was asked for, and full of garbage.

use nearmem::platform::CpuToken;
use nearmem::zone::{Cursor, FreeError, FreeFrames, RawMemory, ReleaseError, RowBatch};
use nearmem::{Order, Pfn, PfnRange};

use crate::machine::token;

/// 64 bytes, aligned as metadata is.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line(pub [u8; 64]);

impl Line {
    /// Bytes that nobody wrote.
    pub fn garbage(&self) -> u64 {
        self.0.iter().filter(|&&byte| byte == 0xa5).count() as u64
    }
}

/// Runs `test` on a structure for one range in memory of its own, all frames reserved.
pub fn with<F: for<'m> Structure<'m>, R>(
    frames: PfnRange,
    test: impl for<'m> FnOnce(&OnCpu<'_, <F as Structure<'m>>::Is>) -> R,
) -> R {
    let ranges = || std::iter::once(frames);
    let bytes = <F as Structure<'_>>::Is::metadata_bytes(ranges());
    let mut lines = vec![Line([0xa5; 64]); (bytes as usize).div_ceil(64)];
    // SAFETY: the vector is used by nobody else before it is dropped, after the structure.
    let memory = unsafe { RawMemory::new(lines.as_mut_ptr().cast(), bytes) };
    let structure = <F as Structure<'_>>::Is::new(frames, 1, ranges(), memory).unwrap();
    test(&OnCpu { structure: &structure, token: token(0), cursor: Cursor::new() })
}

/// A family of structures, by the life of their memory.
pub trait Structure<'m> {
    /// The structure.
    type Is: FreeFrames<'m>;
}

/// A structure as one CPU uses it.
pub struct OnCpu<'a, S> {
    pub structure: &'a S,
    pub token: CpuToken,
    pub cursor: Cursor,
}

impl<'m, S: FreeFrames<'m>> OnCpu<'_, S> {
    pub fn release(&self, frames: PfnRange) -> Result<(), ReleaseError> {
        self.structure.release(&self.token, frames)
    }

    pub fn take(&self, order: Order) -> Option<Pfn> {
        self.structure.take(&self.token, &self.cursor, order)
    }

    pub fn put(&self, block: Pfn, order: Order) -> Result<(), FreeError> {
        self.structure.put(&self.token, block, order)
    }

    /// As many single frames as `into` has room for, batch after batch; says how many.
    pub fn take_batch(&self, into: &mut [Pfn]) -> usize {
        let mut got = 0;
        while got < into.len() {
            let mut batch = RowBatch::new();
            let wanted = (into.len() - got).min(64) as u16;
            let taken = self.structure.take_batch(&self.token, &self.cursor, wanted, &mut batch);
            assert_eq!(u32::from(taken), batch.count());
            assert!(taken <= wanted);
            if taken == 0 {
                break;
            }
            into[got..].iter_mut().zip(batch.iter()).for_each(|(place, frame)| *place = frame);
            got += usize::from(taken);
        }
        got
    }

    /// All these frames, batch after batch.
    pub fn put_batch(&self, frames: &[Pfn]) -> Option<FreeError> {
        batches(frames).fold(None, |first, batch| {
            let error = self.structure.put_batch(&self.token, &batch);
            first.or(error)
        })
    }

    pub fn free(&self) -> u64 {
        self.structure.free()
    }

    /// Free blocks by order.
    pub fn profile(&self) -> [u64; Order::COUNT] {
        self.structure.blocks(&self.token)
    }

    pub fn is_free(&self, frame: Pfn) -> bool {
        self.structure.is_free(&self.token, frame)
    }
}

/// These frames in batches.
pub fn batches(frames: &[Pfn]) -> impl Iterator<Item = RowBatch> {
    frames.chunks(RowBatch::ROWS).map(|frames| {
        let mut batch = RowBatch::new();
        frames.iter().for_each(|&frame| assert!(batch.add(frame)));
        batch
    })
}
