//! The simulated machine, as tests see it.

use core::ops::Range;
use std::boxed::Box;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

use crate::alloc::{MemorySubsystem, Options};
use crate::ids::{CpuId, NodeId};
use crate::memblock::{self, MemBlock};
use crate::topology::{self, NodeMap};
use crate::units::VirtAddr;

use super::arena::Arena;
use super::builder::{Layout, SimBuilder};
use super::cpus::Cpus;
use super::memory::Memory;
use super::page_tables::SimTables;
use super::platform::{Inner, SimPlatform};

/// How many reserved ranges the boot allocator of a simulated machine can keep.
const RESERVED_RANGES: usize = 256;

/// A machine: nodes with RAM, CPUs, page tables.
pub struct SimMachine {
    layout: Layout,
    platform: SimPlatform,
    arena: Arena,
    boot_taken: Mutex<bool>,
}

impl SimMachine {
    /// Begins the description of a machine.
    pub fn builder() -> SimBuilder {
        SimBuilder::default()
    }

    pub(super) fn new(layout: Layout) -> SimMachine {
        let inner = Inner {
            cpus: Cpus::new(layout.cpus.len()),
            memory: Memory::new(&layout.ranges, layout.fill),
            tables: Mutex::new(SimTables::default()),
            flushes: Mutex::new(Vec::new()),
            on_flush: Mutex::new(None),
        };
        SimMachine {
            layout,
            platform: SimPlatform { inner: Arc::new(inner) },
            arena: Arena::default(),
            boot_taken: Mutex::new(false),
        }
    }

    /// The machine, as the crate sees it.
    pub fn platform(&self) -> SimPlatform {
        self.platform.clone()
    }

    /// Its node map.
    pub fn map(&self) -> NodeMap<'_> {
        let layout = &self.layout;
        let nodes = usize::from(layout.nodes);
        let storage = topology::Storage {
            ranges: self.arena.slice(layout.ranges.len()),
            cpus: self.arena.slice(layout.cpus.len()),
            distances: self.arena.slice(nodes * nodes),
            ..topology::Storage::default()
        };
        let distance =
            |from: NodeId, to: NodeId| layout.distances[from.index() * nodes + to.index()];
        NodeMap::from_parts(&layout.ranges, &layout.cpus, distance, storage)
    }

    /// Its boot allocator: all memory but frame 0.
    ///
    /// # Panics
    /// The second time: RAM has one allocator.
    pub fn boot_memory(&self, map: &NodeMap<'_>) -> MemBlock<'_> {
        let taken = core::mem::replace(&mut *self.boot_taken.lock().unwrap(), true);
        assert!(!taken, "the RAM of this machine has an allocator already");
        let storage = memblock::Storage {
            memory: self.arena.slice(map.ranges().len()),
            reserved: self.arena.slice(RESERVED_RANGES),
        };
        MemBlock::new(map, storage)
    }

    /// Hands all memory over and sets the pagesets up, as a kernel does that has nothing to
    /// allocate from boot memory. One that has calls [`boot_memory`](Self::boot_memory) and
    /// [`MemorySubsystem::hand_over`] itself.
    ///
    /// # Panics
    /// When the machine has no room for the allocator's own tables, or as `boot_memory` does.
    /// A CPU without room for its pagesets keeps the boot pageset.
    pub fn start<'m>(
        &'m self,
        map: &'m NodeMap<'m>,
        options: Options,
    ) -> MemorySubsystem<'m, SimPlatform> {
        assert_eq!(map.ranges(), self.layout.ranges, "the node map is another machine's");
        let boot = self.boot_memory(map);
        // SAFETY: the boot allocator is of this machine and its only one; the RAM stays as long
        // as `self`, which is borrowed for `'m`.
        let mm = unsafe { MemorySubsystem::hand_over(boot, map, self.platform(), options) };
        let mm = mm.expect("room for the allocator's tables");
        // See above: what is missing is missing.
        let _ = mm.set_up_pagesets();
        mm
    }

    /// How many CPUs it has.
    pub fn cpus(&self) -> u16 {
        self.layout.cpus.len() as u16
    }

    /// Runs `work` as one of its CPUs, then returns to what this thread was before. A thread that
    /// does not say which CPU it is is CPU 0 whenever it needs to be one; waits where another
    /// is that just so.
    ///
    /// # Panics
    /// When another thread was told to be that CPU, or this thread holds a pin.
    pub fn run_on<R>(&self, cpu: CpuId, work: impl FnOnce() -> R) -> R {
        self.platform.inner.cpus.run_on(cpu, work)
    }

    /// The ranges whose translations were flushed on all CPUs, since the last time this was asked.
    pub fn take_flushes(&self) -> Vec<Range<VirtAddr>> {
        core::mem::take(&mut *self.platform.inner.flushes.lock().unwrap())
    }

    /// Calls `hook` within each flush, before those who wait for it go on.
    pub fn on_flush(&self, hook: impl FnMut(Range<VirtAddr>) + Send + 'static) {
        *self.platform.inner.on_flush.lock().unwrap() = Some(Box::new(hook));
    }

    /// Frames that the page tables of the vmalloc range have.
    pub fn table_frames(&self) -> u64 {
        self.platform.inner.tables.lock().unwrap().frames()
    }
}
