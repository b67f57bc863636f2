//! Giving back tables that map nothing any more.

use nearmem::platform::{PhysMap, TableFrames};
use nearmem::{PhysAddr, VirtAddr};

use super::KernelPageTables;
use crate::layout::{VMALLOC, VMALLOC_SIZE};
use crate::paging::entry::{Entry, Level};
use crate::paging::table::Table;

impl<M: PhysMap> KernelPageTables<M> {
    /// As `reclaim` of [`nearmem::platform::PageTables`]: the empty tables that lie wholly within
    /// `start..end`; what reaches beyond may be somebody's who is about to map. CPUs may remember tables apart from translations, and again after the caller's
    /// flush; so `flush` is called once more, when the tables are unlinked and before the first
    /// frame goes.
    ///
    /// # Safety
    /// As there; and when `flush` returns, no CPU knows anything of the range from before.
    pub unsafe fn reclaim(
        &self,
        start: VirtAddr,
        end: VirtAddr,
        frames: &mut dyn TableFrames,
        flush: &dyn Fn(VirtAddr, VirtAddr),
    ) {
        let (start, end) = (start.max(VMALLOC), end.min(VMALLOC + VMALLOC_SIZE));
        let start = VirtAddr(start.0.next_multiple_of(Level::TWO.span()));
        let end = VirtAddr(end.0 & !(Level::TWO.span() - 1));
        let mut dead = DeadTables { memory: &self.memory, first: None };
        let mut at = start;
        while at < end {
            let next = VirtAddr((at.0 | (Level::THREE.span() - 1)) + 1).min(end);
            self.unlink_empty(at, next, &mut dead);
            at = next;
        }
        if dead.first.is_some() {
            flush(start, end);
            dead.give_back(frames);
        }
    }

    /// Unlinks the empty tables for `start..end`, whole tables of one GiB and at least one.
    fn unlink_empty(&self, start: VirtAddr, end: VirtAddr, dead: &mut DeadTables<'_, M>) {
        let _lock = self.lock.lock();
        let top = self.table(self.ready.vmalloc);
        let directory = top.get(Level::THREE.index(start));
        if !directory.is_present() {
            return;
        }
        let table = self.table(directory.addr());
        for index in Level::TWO.index(start)..=Level::TWO.index(VirtAddr(end.0 - 1)) {
            let entry = table.get(index);
            let below = entry.is_present() && !entry.is_leaf(Level::TWO);
            if below && self.table(entry.addr()).is_empty() {
                table.set(index, Entry::NONE);
                dead.add(entry.addr());
            }
        }
        if end.0 - start.0 == Level::THREE.span() && table.is_empty() {
            top.set(Level::THREE.index(start), Entry::NONE);
            dead.add(directory.addr());
        }
    }
}

/// Tables that nothing points to any more: a list through their first entries. A CPU that still
/// looks there finds nothing mapped: links have bit 0 clear.
struct DeadTables<'a, M> {
    memory: &'a M,
    first: Option<PhysAddr>,
}

/// Tells a link from the end of the list.
const LINK: u64 = 2;

impl<M: PhysMap> DeadTables<'_, M> {
    fn add(&mut self, table: PhysAddr) {
        let link = self.first.map_or(Entry::NONE, |next| Entry(next.0 | LINK));
        self.table(table).set(0, link);
        self.first = Some(table);
    }

    fn give_back(mut self, frames: &mut dyn TableFrames) {
        while let Some(table) = self.first {
            let link = self.table(table).get(0);
            self.first = (link != Entry::NONE).then(|| link.addr());
            frames.give_back(table.pfn());
        }
    }

    fn table(&self, at: PhysAddr) -> &Table {
        // SAFETY: only tables that were unlinked are in the list, and they are not given back yet.
        unsafe { Table::at(self.memory, at) }
    }
}
