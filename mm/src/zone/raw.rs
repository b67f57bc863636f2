//! Raw memory, cut into slices.

use core::marker::PhantomData;

use crate::sync::{AtomicU16, AtomicU32, AtomicU64};

/// Metadata memory that nobody else uses. Its contents are garbage until it is cut into slices,
/// which are initialised as they are made.
#[derive(Debug)]
pub struct RawMemory<'m> {
    at: *mut u8,
    left: usize,
    life: PhantomData<&'m mut [u8]>,
}

impl<'m> RawMemory<'m> {
    /// Every cut begins at a multiple of this many bytes.
    pub const ALIGN: usize = 64;

    /// Takes charge of `bytes` bytes at `at`.
    ///
    /// # Safety
    /// `at..at + bytes` can be read and written for all of `'m`, and nobody else does.
    pub unsafe fn new(at: *mut u8, bytes: u64) -> RawMemory<'m> {
        RawMemory { at, left: usize::try_from(bytes).unwrap_or(usize::MAX), life: PhantomData }
    }

    /// Bytes that `count` values of `T` take when they are cut off, a multiple of 64. 2^64 - 64
    /// when it is more than that.
    pub const fn bytes_for<T>(count: u64) -> u64 {
        match count
            .saturating_mul(size_of::<T>() as u64)
            .checked_next_multiple_of(Self::ALIGN as u64)
        {
            Some(bytes) => bytes,
            None => u64::MAX - 63,
        }
    }

    /// Cuts off the next `bytes` bytes, rounded up to 64, as a memory of its own; `None` when
    /// there are not as many.
    pub fn cut(&mut self, bytes: u64) -> Option<RawMemory<'m>> {
        let bytes = usize::try_from(bytes).ok()?.checked_next_multiple_of(Self::ALIGN)?;
        self.aligned(bytes, Self::ALIGN)
    }

    /// Cuts off the last `bytes` bytes, as a memory of its own; `None` when there are not as many.
    pub(super) fn tail(&mut self, bytes: u64) -> Option<RawMemory<'m>> {
        let bytes = usize::try_from(bytes).ok()?;
        self.left = self.left.checked_sub(bytes)?;
        Some(RawMemory { at: self.at.wrapping_add(self.left), left: bytes, life: PhantomData })
    }

    /// How many values of `T` [`packed`](Self::packed) can still cut off.
    pub(super) fn room_for<T>(&self) -> u64 {
        let skip = self.at.align_offset(align_of::<T>());
        self.left.saturating_sub(skip).checked_div(size_of::<T>()).unwrap_or(0) as u64
    }

    fn aligned(&mut self, bytes: usize, align: usize) -> Option<RawMemory<'m>> {
        let skip = self.at.align_offset(align);
        let taken = skip.checked_add(bytes)?;
        if taken > self.left {
            return None;
        }
        let head = RawMemory { at: self.at.wrapping_add(skip), left: bytes, life: PhantomData };
        self.at = self.at.wrapping_add(taken);
        self.left -= taken;
        Some(head)
    }

    /// Cuts off the next `count` values and fills them, in order, with what `value` makes. `None`
    /// when there is not enough memory or `value` gives up; the memory is gone then.
    pub fn slice<T>(
        &mut self,
        count: u64,
        value: impl FnMut(u64) -> Option<T>,
    ) -> Option<&'m mut [T]> {
        const { assert!(align_of::<T>() <= Self::ALIGN) };
        let bytes = size_of::<T>().checked_mul(usize::try_from(count).ok()?)?;
        self.cut(bytes as u64)?.packed(count, value)
    }

    /// The same for small values that may share a cache line with what is beside them: they begin
    /// where the last cut ended, as far as their own alignment allows.
    pub(crate) fn packed<T>(
        &mut self,
        count: u64,
        mut value: impl FnMut(u64) -> Option<T>,
    ) -> Option<&'m mut [T]> {
        let len = usize::try_from(count).ok()?;
        let memory = self.aligned(size_of::<T>().checked_mul(len)?, align_of::<T>())?;
        let first = memory.at.cast::<T>();
        for at in 0..len {
            let value = value(at as u64)?;
            // SAFETY: `aligned` found `len * size_of::<T>()` bytes from `first` on, aligned for
            // `T`, which are ours alone (see `new`) and in no other cut.
            unsafe { first.add(at).write(value) };
        }
        // SAFETY: as above, and all `len` values have just been written. The slice may live for
        // `'m`: `aligned` never gives the bytes out again.
        Some(unsafe { core::slice::from_raw_parts_mut(first, len) })
    }

    /// Cuts off the next `count` values as they are: garbage, which the caller does not read before
    /// it wrote it. `None` when there is not enough memory.
    #[cfg(not(loom))]
    pub(super) fn unwritten<T: AnyBytes>(&mut self, count: u64) -> Option<&'m [T]> {
        const { assert!(align_of::<T>() <= Self::ALIGN) };
        let len = usize::try_from(count).ok()?;
        let memory = self.cut(size_of::<T>().checked_mul(len)? as u64)?;
        // SAFETY: `cut` found as many bytes, aligned to 64, which are RAM, ours alone for `'m`
        // (see `new`), and in no other cut. Whatever they hold is a `T` (see `AnyBytes`).
        Some(unsafe { core::slice::from_raw_parts(memory.at.cast::<T>(), len) })
    }

    /// The same for models, written.
    #[cfg(loom)]
    pub(super) fn unwritten<T: AnyBytes>(&mut self, count: u64) -> Option<&'m [T]> {
        self.slice(count, |_| Some(T::fresh())).map(|slice| &*slice)
    }
}

/// A type that can be written through a shared reference and for which any bytes are a value.
///
/// # Safety
/// It is an atomic integer, or an array of such.
pub(super) unsafe trait AnyBytes: Sized {
    /// Loom's atomics are more than bytes: there, memory cannot stay as it is.
    #[cfg(loom)]
    fn fresh() -> Self;
}

macro_rules! any_bytes {
    ($($atomic:ty),*) => {$(
        // SAFETY: an atomic integer.
        unsafe impl AnyBytes for $atomic {
            #[cfg(loom)]
            fn fresh() -> Self {
                <$atomic>::new(0)
            }
        }
    )*};
}
any_bytes!(AtomicU16, AtomicU32, AtomicU64);

// SAFETY: an array of atomic integers.
unsafe impl<T: AnyBytes, const N: usize> AnyBytes for [T; N] {
    #[cfg(loom)]
    fn fresh() -> Self {
        core::array::from_fn(|_| T::fresh())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_aligned_disjoint_and_bounded() {
        let mut bytes = [0xa5_u8; 512];
        // SAFETY: the array is borrowed by nothing else as long as `memory` is used.
        let mut memory = unsafe { RawMemory::new(bytes.as_mut_ptr().wrapping_add(1), 500) };
        let words = memory.slice(9, Some).unwrap();
        let halves = memory.slice(3, |at| Some(at as u16)).unwrap();
        assert_eq!(words.as_ptr().align_offset(64), 0);
        assert_eq!(halves.as_ptr().align_offset(64), 0);
        assert_eq!(words, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(halves, [0, 1, 2]);
        assert!(memory.cut(300).is_none());
        assert!(memory.slice(u64::MAX, |_| Some(0_u64)).is_none());
        assert!(memory.slice(1, |_| None::<u64>).is_none());
        assert_eq!(RawMemory::bytes_for::<u64>(9), 128);
        assert_eq!(RawMemory::bytes_for::<u64>(u64::MAX), u64::MAX - 63);
    }

    #[test]
    fn small_values_lie_side_by_side_and_the_tail_is_the_last() {
        let mut bytes = [0xa5_u8; 512];
        let first = bytes.as_mut_ptr().wrapping_add(bytes.as_ptr().align_offset(64));
        // SAFETY: the array is borrowed by nothing else as long as `memory` is used.
        let mut memory = unsafe { RawMemory::new(first, 128) };
        let mut tail = memory.tail(16).unwrap();
        let byte = memory.packed(1, |_| Some(1_u8)).unwrap();
        let words = memory.packed(2, Some).unwrap();
        assert_eq!(byte.as_ptr().addr() + 8, words.as_ptr().addr());
        assert_eq!(memory.room_for::<u64>(), 11);
        assert!(memory.packed(12, Some).is_none());
        assert_eq!(memory.packed(11, Some).unwrap().len(), 11);
        let last = tail.packed(2, |at| Some(at + 7)).unwrap();
        assert_eq!(last.as_ptr().addr(), first.addr() + 112);
        assert!(tail.tail(1).is_none());
        assert_eq!((byte[0], words[1], last[1]), (1, 1, 8));
    }

    #[test]
    fn nothing_needs_no_memory() {
        // SAFETY: 0 bytes are nobody's.
        let mut memory = unsafe { RawMemory::new(core::ptr::dangling_mut(), 0) };
        assert!(memory.slice(0, |_| Some(0_u64)).is_none_or(|slice| slice.is_empty()));
        assert!(memory.slice(1, |_| Some(0_u64)).is_none());
    }
}
