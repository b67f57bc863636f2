//! Making page tables that are not in force yet.

use core::ops::AddAssign;

use nearmem::platform::PhysMap;
use nearmem::{PAGE_SIZE, PhysAddr, PhysRange, VirtAddr};
use x86_64::structures::paging::PageTableFlags;

use super::entry::{Entry, Level};
use super::table::Table;

/// Why tables could not be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// No frame was left for a table.
    NoFrame,
    /// This frame for a table is not reachable before the tables are in force.
    FrameOutOfReach(PhysAddr),
    /// This page of the kernel image is in no page table.
    ImageNotMapped(VirtAddr),
}

/// How many leaves of each size a mapping took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Leaves {
    /// Leaves of 1 GiB.
    pub gib: u64,
    /// Leaves of 2 MiB.
    pub mib2: u64,
    /// Leaves of 4 KiB.
    pub kib4: u64,
}

impl Leaves {
    fn add(&mut self, level: Level, count: usize) {
        let of_level = match level {
            Level::ONE => &mut self.kib4,
            Level::TWO => &mut self.mib2,
            _ => &mut self.gib,
        };
        *of_level += count as u64;
    }

    /// Bytes that they map.
    pub fn bytes(&self) -> u64 {
        (self.gib << 30) + (self.mib2 << 21) + (self.kib4 << 12)
    }
}

impl AddAssign for Leaves {
    fn add_assign(&mut self, more: Leaves) {
        self.gib += more.gib;
        self.mib2 += more.mib2;
        self.kib4 += more.kib4;
    }
}

/// Tables in the making.
pub struct Builder<'a, M, F> {
    memory: &'a M,
    frames: F,
    /// Frames below this address can be reached.
    reach: u64,
    /// The flags that the CPU knows.
    known: PageTableFlags,
    root: PhysAddr,
    table_frames: u64,
}

impl<'a, M: PhysMap, F: FnMut() -> Option<PhysAddr>> Builder<'a, M, F> {
    /// Empty tables.
    ///
    /// # Safety
    /// `frames` gives frames of RAM that nobody else uses, and that `memory` can reach as far as
    /// they lie below `reach` (bytes).
    pub unsafe fn new(
        memory: &'a M,
        frames: F,
        reach: u64,
        known: PageTableFlags,
    ) -> Result<Self, BuildError> {
        let root = PhysAddr(0);
        let mut builder = Builder { memory, frames, reach, known, root, table_frames: 0 };
        builder.root = builder.new_table()?;
        Ok(builder)
    }

    /// The root.
    pub fn root(&self) -> PhysAddr {
        self.root
    }

    /// Frames that the tables take.
    pub fn table_frames(&self) -> u64 {
        self.table_frames
    }

    /// Maps `range`, which begins at a frame, from `at` on, with the largest leaves that fit, of
    /// level `largest` at most. What is mapped there already stays as it is.
    pub fn map(
        &mut self,
        at: VirtAddr,
        range: PhysRange,
        flags: PageTableFlags,
        largest: Level,
    ) -> Result<Leaves, BuildError> {
        let mut leaves = Leaves::default();
        let mut done = 0;
        while done < range.len() {
            let rest = PhysRange { start: range.start + done, end: range.end };
            done += self.map_some(at + done, rest, flags, largest, &mut leaves)?;
        }
        Ok(leaves)
    }

    /// Makes sure that there is a table of `level` for `at`, and says where.
    pub fn table(&mut self, at: VirtAddr, level: Level) -> Result<PhysAddr, BuildError> {
        let (mut table, mut above) = (self.root, Level::FOUR);
        while let (true, Some(below)) = (above > level, above.below()) {
            table = self.next_table(table, above.index(at))?;
            above = below;
        }
        Ok(table)
    }

    /// Maps the first leaf, and as many behind it in the same table as are of its size and not
    /// mapped yet; says how many bytes are mapped now, up to the last leaf's end. So what a leaf
    /// costs is its entry, and not the way to it.
    fn map_some(
        &mut self,
        at: VirtAddr,
        range: PhysRange,
        flags: PageTableFlags,
        largest: Level,
        leaves: &mut Leaves,
    ) -> Result<u64, BuildError> {
        let (mut table, mut level) = (self.root, Level::FOUR);
        let mut empty = false;
        loop {
            let (span, index) = (level.span(), level.index(at));
            let entry = self.get(table, index);
            if entry.is_leaf(level) {
                return Ok(span - at.0 % span);
            }
            let fits = level <= largest
                && (at.0 | range.start.0).is_multiple_of(span)
                && range.len() >= span;
            let Some(below) = level.below().filter(|_| entry.is_present() || !fits) else {
                let first = Entry::leaf(range.start, level, flags & self.known);
                // SAFETY: all tables that entries point to were made by `new_table`.
                let table = unsafe { Table::at(self.memory, table) };
                // A range that ends within a frame still gets the whole of it.
                let most = (range.len() / span).clamp(1, (Table::ENTRIES - index) as u64) as usize;
                let count = if empty { most } else { table.absent(index, most) };
                table.set_leaves(index, count, first, level);
                leaves.add(level, count);
                return Ok(span * count as u64);
            };
            empty = !entry.is_present();
            table = self.next_table(table, index)?;
            level = below;
        }
    }

    fn next_table(&mut self, table: PhysAddr, index: usize) -> Result<PhysAddr, BuildError> {
        let entry = self.get(table, index);
        if entry.is_present() {
            return Ok(entry.addr());
        }
        let new = self.new_table()?;
        self.set(table, index, Entry::table(new));
        Ok(new)
    }

    fn new_table(&mut self) -> Result<PhysAddr, BuildError> {
        let frame = (self.frames)().ok_or(BuildError::NoFrame)?;
        if frame.0.checked_add(PAGE_SIZE).is_none_or(|end| end > self.reach) {
            return Err(BuildError::FrameOutOfReach(frame));
        }
        // SAFETY: `frames` gave it to us alone, and it is in reach.
        unsafe { Table::clear(self.memory, frame) };
        self.table_frames += 1;
        Ok(frame)
    }

    fn get(&self, table: PhysAddr, index: usize) -> Entry {
        // SAFETY: all tables that entries point to were made by `new_table`.
        unsafe { Table::at(self.memory, table) }.get(index)
    }

    fn set(&self, table: PhysAddr, index: usize, entry: Entry) {
        // SAFETY: as above.
        unsafe { Table::at(self.memory, table) }.set(index, entry);
    }
}
