//! A hash table with chains: 64-bit keys to 64-bit values, in entries that the caller brings.

use core::marker::PhantomData;
use core::ptr;

use crate::platform::Platform;
use crate::sync::{AtomicPtr, Ordering, relax};

use super::WrongBucket;
use super::system_hash::{Bucket, SystemHash};
use super::table::Table;

/// The head of a chain, 8 bytes: the address of the first entry, whose lowest bit is the lock of
/// the chain.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct ChainHead(AtomicPtr<Entry>);

// SAFETY: zeros are a null pointer, which is the default: no entry, not locked.
unsafe impl Bucket for ChainHead {}

/// A key and its value. In a table it belongs to the table.
#[derive(Debug)]
pub struct Entry {
    key: u64,
    value: u64,
    next: *mut Entry,
}

// SAFETY: the link is only used by the table that the entry is in, under the chain's lock.
unsafe impl Send for Entry {}
// SAFETY: as above; through a shared borrow nothing changes.
unsafe impl Sync for Entry {}

impl Entry {
    /// An entry that is in no table.
    pub const fn new(key: u64, value: u64) -> Entry {
        Entry { key, value, next: ptr::null_mut() }
    }

    /// Its key.
    pub const fn key(&self) -> u64 {
        self.key
    }

    /// Its value.
    pub const fn value(&self) -> u64 {
        self.value
    }
}

/// A hash table over the memory of a [`Table`] with buckets of 8 bytes. All CPUs may use it at
/// once: each chain has its own lock. Not for interrupt handlers.
///
/// Entries are lent to it for `'n`, and come back one by one when they are removed.
///
/// ```
/// use nearmem::alloc::Interleave;
/// use nearmem::hash::{ChainTable, Entry, HashMachine, HashOptions, MemoryPages, Plan, allocate};
/// use nearmem::sim::SimMachine;
/// use nearmem::vmalloc::Vmalloc;
///
/// let machine = SimMachine::builder().node(32 << 20, 1).node(32 << 20, 1).build();
/// let map = machine.map();
/// let mm = machine.start(&map, Default::default());
/// let vmalloc = Vmalloc::new(&mm);
/// let memory = MemoryPages { kernel: 16384, all: 16384 };
/// let machine = HashMachine { memory, possible_cpus: 2, nodes_with_memory: 2 };
/// let plan = Plan::new(&HashOptions::default(), machine);
/// let dentries = plan.late().next().unwrap();
/// let table = allocate(dentries, &vmalloc, &Interleave::new(*map.with_memory()))?;
///
/// let mut entry = Entry::new(7, 49);
/// let table = ChainTable::new(table).unwrap();
/// table.insert(&mut entry).unwrap();
/// assert_eq!(table.get(7), Some(49));
/// assert_eq!(table.remove(7).map(|entry| entry.value()), Some(49));
/// assert_eq!(table.get(7), None);
/// # Ok::<(), nearmem::hash::HashError>(())
/// ```
pub struct ChainTable<'m, 'n, P: Platform> {
    hash: SystemHash<'m, ChainHead, P>,
    /// Entries go in and come out as `&'n mut`, so `'n` is exactly that.
    entries: PhantomData<fn(&'n mut Entry) -> &'n mut Entry>,
}

impl<'m, 'n, P: Platform> ChainTable<'m, 'n, P> {
    /// An empty table.
    ///
    /// # Errors
    /// The buckets of `table` are not of 8 bytes.
    #[allow(clippy::result_large_err)] // Nothing is allocated to move a table.
    pub fn new(table: Table<'m, P>) -> Result<Self, WrongBucket<'m, P>> {
        Ok(ChainTable { hash: SystemHash::new(table)?, entries: PhantomData })
    }

    /// The buckets, and the table's figures.
    pub fn hash(&self) -> &SystemHash<'m, ChainHead, P> {
        &self.hash
    }

    /// Gives the memory back as a table. Entries that are in it stay lent.
    pub fn into_table(self) -> Table<'m, P> {
        self.hash.into_table()
    }

    /// Puts an entry in; gives it back when there is one of the same key.
    pub fn insert(&self, entry: &'n mut Entry) -> Result<(), &'n mut Entry> {
        let mut chain = self.hash.bucket_of(entry.key).lock();
        if !chain.find(entry.key).is_null() {
            return Err(entry);
        }
        entry.next = chain.first;
        chain.first = entry;
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: u64) -> Option<u64> {
        let chain = self.hash.bucket_of(key).lock();
        // SAFETY: entries of the chain are the table's, and the chain is locked.
        unsafe { chain.find(key).as_ref() }.map(|entry| entry.value)
    }

    /// Changes the value of a key; false when it is not there.
    pub fn set(&self, key: u64, value: u64) -> bool {
        let chain = self.hash.bucket_of(key).lock();
        // SAFETY: entries of the chain are the table's, and the chain is locked.
        unsafe { chain.find(key).as_mut() }.map(|entry| entry.value = value).is_some()
    }

    /// Takes the entry of a key out.
    pub fn remove(&self, key: u64) -> Option<&'n mut Entry> {
        let mut chain = self.hash.bucket_of(key).lock();
        let mut link: *mut *mut Entry = &mut chain.first;
        // SAFETY: the links of a chain lead from one entry of the table to the next, and the chain
        // is locked. The entry was lent for `'n`, and nothing in the table leads to it any more.
        unsafe {
            while let Some(entry) = (*link).as_mut() {
                if entry.key == key {
                    *link = entry.next;
                    entry.next = ptr::null_mut();
                    return Some(entry);
                }
                link = &mut entry.next;
            }
        }
        None
    }

    /// How many entries each chain has, in the order of the buckets. Each chain is locked while it
    /// is counted.
    pub fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.hash.buckets().iter().map(|head| {
            let chain = head.lock();
            // SAFETY: entries of the chain are the table's, and the chain is locked.
            let next = |entry: &*mut Entry| unsafe { entry.as_ref() }.map(|entry| entry.next);
            let first = Some(chain.first);
            core::iter::successors(first, next).take_while(|entry| !entry.is_null()).count()
        })
    }
}

const LOCKED: usize = 1;

impl ChainHead {
    fn lock(&self) -> Chain<'_> {
        loop {
            let first = self.0.load(Ordering::Relaxed);
            // Acquire pairs with the Release in `drop`: the chain is seen as it was left.
            if first.addr() & LOCKED == 0
                && self
                    .0
                    .compare_exchange_weak(
                        first,
                        first.map_addr(|at| at | LOCKED),
                        Ordering::Acquire,
                        Ordering::Relaxed,
                    )
                    .is_ok()
            {
                return Chain { head: self, first };
            }
            relax();
        }
    }
}

/// A locked chain. The lock opens when it is dropped.
struct Chain<'a> {
    head: &'a ChainHead,
    first: *mut Entry,
}

impl Chain<'_> {
    /// The entry of a key, or null.
    fn find(&self, key: u64) -> *mut Entry {
        let mut at = self.first;
        // SAFETY: entries of the chain are the table's, and the chain is locked.
        while let Some(entry) = unsafe { at.as_ref() } {
            if entry.key == key {
                break;
            }
            at = entry.next;
        }
        at
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        self.head.0.store(self.first, Ordering::Release);
    }
}
