//! Metadata memory for tests: exactly as much as was asked for, and full of garbage.

use nearmem::PfnRange;
use nearmem::zone::{FreeFrames, RawMemory};

/// 64 bytes, aligned as metadata is.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line(#[expect(dead_code, reason = "used through raw pointers")] pub [u8; 64]);

/// Runs `test` on a structure in memory of its own.
pub fn with<F: for<'m> Structure<'m>, R>(
    frames: PfnRange,
    test: impl for<'m> FnOnce(&mut <F as Structure<'m>>::Is) -> R,
) -> R {
    let bytes = <F as Structure<'_>>::Is::metadata_bytes(frames);
    assert_eq!(bytes % 64, 0);
    let mut lines = vec![Line([0xa5; 64]); bytes as usize / 64];
    // SAFETY: the vector is used by nobody else before it is dropped, after the structure.
    let mut memory = unsafe { RawMemory::new(lines.as_mut_ptr().cast(), bytes) };
    let mut structure = <F as Structure<'_>>::Is::new(frames, &mut memory).unwrap();
    test(&mut structure)
}

/// A family of structures, by the life of their memory.
pub trait Structure<'m> {
    /// The structure.
    type Is: FreeFrames<'m>;
}
