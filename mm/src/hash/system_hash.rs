//! A table as buckets of one type.

use core::fmt;
use core::marker::PhantomData;
use core::mem::{align_of, size_of};
use core::ops::Deref;
use core::slice;

use crate::platform::Platform;

use super::info::TableInfo;
use super::table::Table;

/// What a bucket can be: something that is shared by all CPUs, so with a lock of its own or
/// atomic.
///
/// # Safety
/// Memory that is all zeros is a value of the type, equal to its default: an empty bucket.
pub unsafe trait Bucket: Default + Send + Sync {}

/// A hash table's buckets. Their number is a power of two.
///
/// [`ChainTable`](super::ChainTable) is a complete hash table over it.
pub struct SystemHash<'m, B: Bucket, P: Platform> {
    table: Table<'m, P>,
    buckets: PhantomData<B>,
}

/// The table's buckets are of another size or alignment. The table comes back.
pub struct WrongBucket<'m, P: Platform> {
    /// The table.
    pub table: Table<'m, P>,
    /// Bytes of its buckets.
    pub bucket_bytes: u64,
}

impl<P: Platform> fmt::Debug for WrongBucket<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buckets of {} are of {} bytes", self.table.info().name, self.bucket_bytes)
    }
}

impl<'m, B: Bucket, P: Platform> SystemHash<'m, B, P> {
    /// Makes empty buckets of a table.
    ///
    /// # Errors
    /// The table was planned for buckets of another size.
    #[allow(clippy::result_large_err)] // Nothing is allocated to move a table.
    pub fn new(table: Table<'m, P>) -> Result<Self, WrongBucket<'m, P>> {
        let bucket_bytes = table.bucket_bytes;
        let buckets = table.as_ptr().cast::<B>();
        let aligned = buckets.addr().is_multiple_of(align_of::<B>());
        if size_of::<B>() as u64 != bucket_bytes || !aligned {
            return Err(WrongBucket { table, bucket_bytes });
        }
        if !table.zeroed {
            for index in 0..table.info.entries as usize {
                // SAFETY: the table has this many buckets, is aligned for them, and is ours.
                unsafe { buckets.add(index).write(B::default()) };
            }
        }
        Ok(SystemHash { table, buckets: PhantomData })
    }

    /// Its figures.
    pub fn info(&self) -> &TableInfo {
        self.table.info()
    }

    /// The memory that the buckets are made of.
    pub fn table(&self) -> &Table<'m, P> {
        &self.table
    }

    /// All buckets.
    pub fn buckets(&self) -> &[B] {
        let first = self.table.as_ptr().cast::<B>();
        // SAFETY: `new` has made all of them, and they are there as long as the table.
        unsafe { slice::from_raw_parts(first, self.table.info.entries as usize) }
    }

    /// Where a key belongs: the upper bits of its product with 2^64 / golden ratio.
    pub fn index_of(&self, key: u64) -> usize {
        let bits = self.info().entries.trailing_zeros();
        let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
    }

    /// The bucket of a key.
    pub fn bucket_of(&self, key: u64) -> &B {
        &self.buckets()[self.index_of(key)]
    }

    /// Gives the memory back as a table. What the buckets held is gone: whoever makes buckets of it
    /// again finds empty ones.
    pub fn into_table(mut self) -> Table<'m, P> {
        self.table.zeroed = false;
        self.table
    }
}

impl<B: Bucket, P: Platform> Deref for SystemHash<'_, B, P> {
    type Target = [B];
    fn deref(&self) -> &[B] {
        self.buckets()
    }
}
