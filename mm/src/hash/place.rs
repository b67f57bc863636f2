//! Memory for the tables (reference: large-system-hash, section 1, step 6).
//!
//! An early table comes from boot memory. A later one that is to be spread, or is larger than the
//! largest block, comes from vmalloc; any other is one block, of which what it does not need is
//! freed again. While there is no room a table is halved, down to a page.

use core::fmt;
use core::marker::PhantomData;

use crate::alloc::{AllocError, Interleave, Policy, Request};
use crate::memblock::{BootAllocError, BootRequest, MemBlock};
use crate::platform::{MapSize, Platform};
use crate::units::{Order, PAGE_SIZE, VirtAddr};
use crate::vmalloc::{VmRequest, Vmalloc, VmallocError};

use super::boot_tables::{Plan, TCP_BIND, TCP_ESTABLISHED, TableSpec};
use super::info::{Placement, TableInfo};
use super::size::order_of;
use super::table::{Table, TableMemory, keep_first};

/// Tables in boot memory begin at a multiple of this, in bytes: a cache line.
const EARLY_ALIGN: u64 = 64;

/// There is no table, not even of one page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HashError {
    /// The table's name.
    pub name: &'static str,
    /// Entries that it should have had.
    pub wanted: u64,
    /// What the last attempt, the smallest, failed of.
    pub cause: HashErrorCause,
}

/// What a table failed of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashErrorCause {
    /// Boot memory.
    Boot(BootAllocError),
    /// A block of frames.
    Frames(AllocError),
    /// vmalloc.
    Vmalloc(VmallocError),
}

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hash table: no memory, so there is none: ", self.name)?;
        match self.cause {
            HashErrorCause::Boot(cause) => cause.fmt(f),
            HashErrorCause::Frames(cause) => cause.fmt(f),
            HashErrorCause::Vmalloc(cause) => cause.fmt(f),
        }
    }
}

impl core::error::Error for HashError {}

/// A table from boot memory, on the node where that has its lowest free range.
///
/// # Errors
/// Not even a page was free.
///
/// # Safety
/// All memory of `boot_memory` is RAM, reachable through the platform for `'m`, and what is not
/// reserved there is nobody's.
pub unsafe fn allocate_early<'m, P: Platform>(
    spec: &TableSpec,
    boot_memory: &mut MemBlock<'_>,
    platform: &P,
) -> Result<Table<'m, P>, HashError> {
    allocate_halving(spec, |bytes| {
        let request = BootRequest { bytes, align: EARLY_ALIGN, node: None, strict: false };
        let block = boot_memory.alloc(request).map_err(HashErrorCause::Boot)?;
        let start = platform.phys_to_virt(block.range.start);
        if spec.zero {
            // SAFETY: the bytes were allocated just now, and are RAM.
            unsafe { start.write_bytes(0, bytes as usize) };
        }
        let memory = TableMemory::Boot { node: block.node, life: PhantomData };
        Ok((start, Placement::Linear, memory))
    })
}

/// A table from the page allocator: through vmalloc, dealt over the nodes of `turns`, or in one
/// piece on the node whose turn it is.
///
/// # Errors
/// Not even a page was free.
pub fn allocate<'m, P: Platform>(
    spec: &TableSpec,
    vmalloc: &'m Vmalloc<'m, P>,
    turns: &Interleave,
) -> Result<Table<'m, P>, HashError> {
    let policy = Policy::Interleave(turns);
    allocate_halving(spec, |bytes| match Order::for_bytes(bytes) {
        Some(order) if !spec.distribute => {
            let mm = vmalloc.memory();
            let request = Request::new(order).on(policy).zeroed_if(spec.zero);
            let block = mm.alloc(&request).map_err(HashErrorCause::Frames)?;
            let (first, pages) = (block.pfn(), bytes.div_ceil(PAGE_SIZE));
            let start = block.as_ptr(mm.platform());
            keep_first(mm, block, pages);
            Ok((start, Placement::Linear, TableMemory::Linear { mm, first, pages }))
        }
        _ => {
            let request = VmRequest::new(bytes).on(policy).huge().named(spec.name);
            let request = VmRequest { zero: spec.zero, ..request };
            let area = vmalloc.alloc(&request).map_err(HashErrorCause::Vmalloc)?;
            let placement = match area.info().leaf {
                MapSize::Small => Placement::Vmalloc,
                MapSize::Huge => Placement::VmallocHuge,
            };
            Ok((area.as_ptr(), placement, TableMemory::Vmalloc { vmalloc, area }))
        }
    })
}

/// Tries the table's size, then half of it, and so on: at least a page, at least two entries.
fn allocate_halving<'m, P: Platform>(
    spec: &TableSpec,
    mut attempt: impl FnMut(u64) -> Result<(*mut u8, Placement, TableMemory<'m, P>), HashErrorCause>,
) -> Result<Table<'m, P>, HashError> {
    let wanted = spec.entries();
    let bucket_bytes = spec.size.bucket_bytes.max(1);
    let mut entries = wanted;
    loop {
        let bytes = entries.saturating_mul(bucket_bytes);
        match attempt(bytes) {
            Ok((start, placement, memory)) => {
                let info = TableInfo {
                    name: spec.name,
                    entries,
                    wanted,
                    order: order_of(bytes),
                    bytes,
                    placement,
                    early: matches!(memory, TableMemory::Boot { .. }),
                    address: VirtAddr(start.expose_provenance() as u64),
                };
                return Ok(Table { info, bucket_bytes, zeroed: spec.zero, memory });
            }
            Err(_) if bytes > PAGE_SIZE && entries > 2 => entries /= 2,
            Err(cause) => return Err(HashError { name: spec.name, wanted, cause }),
        }
    }
}

impl Plan {
    /// Allocates the early tables, one at each step of the iterator.
    ///
    /// # Safety
    /// As [`allocate_early`].
    pub unsafe fn allocate_early<'m, P: Platform + 'm>(
        &self,
        boot_memory: &mut MemBlock<'_>,
        platform: &P,
    ) -> impl Iterator<Item = Result<Table<'m, P>, HashError>> {
        // SAFETY: the caller's promise.
        self.early().map(move |spec| unsafe { allocate_early(spec, boot_memory, platform) })
    }

    /// Allocates the other tables, one at each step of the iterator. TCP's table of bound ports
    /// is as large as that of connections came out, up to its own limit.
    ///
    /// ```
    /// use nearmem::alloc::{Interleave, interleave_nodes};
    /// use nearmem::hash::{HashMachine, HashOptions, MemoryPages, Plan};
    /// use nearmem::sim::SimMachine;
    /// use nearmem::vmalloc::Vmalloc;
    ///
    /// let machine = SimMachine::builder().node(32 << 20, 1).node(32 << 20, 1).build();
    /// let map = machine.map();
    /// let mm = machine.start(&map, Default::default());
    /// let vmalloc = Vmalloc::new(&mm);
    ///
    /// let pages = (64 << 20) / 4096;
    /// let memory = MemoryPages { kernel: pages, all: pages };
    /// let machine = HashMachine { memory, possible_cpus: 2, nodes_with_memory: 2 };
    /// let plan = Plan::new(&HashOptions::default(), machine);
    /// let turns = Interleave::new(interleave_nodes(&map));
    /// for table in plan.allocate_late(&vmalloc, &turns) {
    ///     let table = table?;
    ///     println!("{}", table.info());
    ///     if let Some(shortfall) = table.info().shortfall() {
    ///         println!("{shortfall}");
    ///     }
    /// #   if table.info().name == "Dentry cache" {
    /// #       assert_eq!(table.info().to_string(),
    /// #           "Dentry cache hash table entries: 8192 (order: 4, 65536 bytes, vmalloc)");
    /// #       assert_eq!(table.pages_by_node().map(|(_, pages)| pages).collect::<Vec<_>>(), [8, 8]);
    /// #   }
    /// }
    /// # Ok::<(), nearmem::hash::HashError>(())
    /// ```
    pub fn allocate_late<'m, P: Platform>(
        &self,
        vmalloc: &'m Vmalloc<'m, P>,
        turns: &Interleave,
    ) -> impl Iterator<Item = Result<Table<'m, P>, HashError>> {
        let mut connections = None;
        self.late().map(move |spec| {
            let mut spec = *spec;
            if let (TCP_BIND, Some(entries)) = (spec.name, connections) {
                spec.size.entries = entries;
            }
            let table = allocate(&spec, vmalloc, turns)?;
            if spec.name == TCP_ESTABLISHED {
                connections = Some(table.info().entries);
            }
            Ok(table)
        })
    }
}
