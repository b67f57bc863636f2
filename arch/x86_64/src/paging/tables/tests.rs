use super::*;
use crate::cpu::Area;
use crate::paging::test_memory::{TestFrames, TestMemory};
use nearmem::platform::{MapError, TableFrames};
use nearmem::{CpuId, Pfn};
use std::cell::RefCell;

const HUGE: u64 = 2 << 20;
const GIB: u64 = 1 << 30;
const LARGE: Mapping = Mapping { pfn: Pfn(512), size: MapSize::Huge };

fn small(pfn: u64) -> Mapping {
    Mapping { pfn: Pfn(pfn), size: MapSize::Small }
}

/// Tables with nothing mapped, the frames for more, and the flushes that were asked for.
struct Fixture<'a> {
    tables: KernelPageTables<&'a TestMemory>,
    frames: TestFrames<'a>,
    flushes: RefCell<Vec<(VirtAddr, VirtAddr)>>,
}

// SAFETY: as for the memory itself.
unsafe impl PhysMap for &TestMemory {
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        (**self).phys_to_virt(addr)
    }
}

impl<'a> Fixture<'a> {
    fn new(memory: &'a TestMemory) -> Self {
        let table = || {
            let frame = memory.next_frame().unwrap();
            // SAFETY: the frame was never given out before.
            unsafe { Table::clear(memory, frame) };
            frame
        };
        let ready = Ready { vmalloc: table(), mmio: table() };
        // SAFETY: empty tables of our own.
        let tables =
            unsafe { KernelPageTables::new(memory, table(), ready, PageTableFlags::all()) };
        let frames = TestFrames { memory, free: vec![], limit: usize::MAX, out: 0 };
        Fixture { tables, frames, flushes: RefCell::default() }
    }

    fn map(&mut self, at: VirtAddr, leaf: Mapping) -> Result<(), MapError> {
        let flush = |start, end| self.flushes.borrow_mut().push((start, end));
        // SAFETY: no CPU uses these tables.
        unsafe { self.tables.map(at, leaf, &mut self.frames, &flush) }
    }

    fn unmap(&self, at: VirtAddr) -> Option<Mapping> {
        // SAFETY: no CPU uses these tables.
        unsafe { self.tables.unmap(at) }
    }

    fn reclaim(&mut self, start: VirtAddr, end: VirtAddr) {
        let flush = |start, end| self.flushes.borrow_mut().push((start, end));
        // SAFETY: no CPU uses these tables.
        unsafe { self.tables.reclaim(start, end, &mut self.frames, &flush) }
    }
}

#[test]
fn what_is_mapped_is_found_until_it_is_unmapped() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    let at = VMALLOC + 3 * GIB + 0x5000;
    fixture.map(at, small(77)).unwrap();
    fixture.map(VMALLOC, LARGE).unwrap();
    assert_eq!(fixture.tables.translate(at + 0xfff), Some(small(77)));
    assert_eq!(fixture.tables.translate(at + 0x1000), None);
    assert_eq!(fixture.tables.translate(VMALLOC + (HUGE - 1)), Some(LARGE));
    assert_eq!(fixture.tables.translate(VMALLOC + HUGE), None);

    assert_eq!(fixture.unmap(VMALLOC + 0x1000), None, "not where the leaf begins");
    assert_eq!(fixture.unmap(VMALLOC), Some(LARGE));
    assert_eq!(fixture.unmap(at), Some(small(77)));
    assert_eq!(fixture.unmap(at), None);
    assert_eq!(fixture.tables.translate(at), None);
    assert!(fixture.flushes.borrow().is_empty(), "mapping needs no flush");
}

#[test]
fn mappings_are_data() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    fixture.map(VMALLOC, small(1)).unwrap();
    let (table, level) = fixture.tables.last_table(VMALLOC).unwrap();
    let flags = table.get(level.index(VMALLOC)).flags();
    assert!(flags.contains(PageTableFlags::WRITABLE | PageTableFlags::NO_EXECUTE));
    assert!(!flags.contains(PageTableFlags::USER_ACCESSIBLE));
}

#[test]
fn what_cannot_be_mapped_is_refused_and_costs_no_frame() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    for (at, leaf, error) in [
        (VirtAddr(VMALLOC.0 - 0x1000), small(1), MapError::OutOfRange),
        (VMALLOC + VMALLOC_SIZE, small(1), MapError::OutOfRange),
        (VMALLOC + 8, small(1), MapError::Misaligned),
        (VMALLOC + 0x1000, LARGE, MapError::Misaligned),
        (VMALLOC, Mapping { pfn: Pfn(511), size: MapSize::Huge }, MapError::Misaligned),
    ] {
        assert_eq!(fixture.map(at, leaf), Err(error), "{at:?}");
    }
    assert_eq!(fixture.frames.out, 0);
    // One frame is not enough where two tables are missing.
    fixture.frames.limit = 1;
    assert_eq!(fixture.map(VMALLOC, small(1)), Err(MapError::NoTableFrame));
    assert_eq!(fixture.frames.out, 0);
}

#[test]
fn nothing_is_mapped_over_something() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    fixture.map(VMALLOC, small(1)).unwrap();
    fixture.map(VMALLOC + HUGE, LARGE).unwrap();
    assert_eq!(fixture.map(VMALLOC, small(2)), Err(MapError::Occupied));
    assert_eq!(fixture.map(VMALLOC, LARGE), Err(MapError::Occupied));
    assert_eq!(fixture.map(VMALLOC + HUGE, LARGE), Err(MapError::Occupied));
    assert_eq!(fixture.map(VMALLOC + HUGE + 0x1000, small(2)), Err(MapError::Occupied));
    assert_eq!(fixture.tables.translate(VMALLOC), Some(small(1)));
}

#[test]
fn empty_tables_go_back_after_one_flush() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    // Two last-level tables in one directory; another directory.
    let places = [VMALLOC, VMALLOC + HUGE, VMALLOC + GIB];
    for at in places {
        fixture.map(at, small(9)).unwrap();
    }
    assert_eq!(fixture.frames.out, 5);
    fixture.reclaim(VMALLOC, VMALLOC + 2 * GIB);
    assert_eq!(fixture.frames.out, 5, "all in use");
    assert!(fixture.flushes.borrow().is_empty());

    fixture.unmap(places[0]);
    fixture.reclaim(places[0], places[0] + (HUGE - 0x1000));
    assert_eq!(fixture.frames.out, 5, "the table serves addresses that were not named");
    fixture.reclaim(places[0], places[0] + HUGE);
    assert_eq!(fixture.frames.out, 4);
    assert_eq!(fixture.tables.translate(places[1]), Some(small(9)));

    fixture.unmap(places[1]);
    fixture.unmap(places[2]);
    fixture.reclaim(VMALLOC, VMALLOC + VMALLOC_SIZE);
    assert_eq!(fixture.frames.out, 0);
    assert_eq!(fixture.flushes.borrow().len(), 2);
    fixture.reclaim(VMALLOC, VMALLOC + VMALLOC_SIZE);
    fixture.reclaim(VirtAddr(0), VirtAddr(u64::MAX));
    fixture.reclaim(VMALLOC, VMALLOC);
    assert_eq!(fixture.flushes.borrow().len(), 2, "nothing to forget");
}

#[test]
fn a_large_leaf_takes_the_place_of_an_empty_table() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    fixture.map(VMALLOC + 0x3000, small(9)).unwrap();
    fixture.unmap(VMALLOC + 0x3000);
    fixture.map(VMALLOC, LARGE).unwrap();
    assert_eq!(fixture.frames.out, 1, "the directory");
    assert_eq!(*fixture.flushes.borrow(), [(VMALLOC, VMALLOC + HUGE)]);
    assert_eq!(fixture.tables.translate(VMALLOC + 0x3000), Some(LARGE));
}

#[test]
fn device_registers_are_mapped_until_the_table_is_full() {
    let memory = TestMemory::new(16);
    let fixture = Fixture::new(&memory);
    // SAFETY: no CPU uses these tables.
    let map = |page| unsafe { fixture.tables.map_mmio(PhysAddr(0xfee0_0000 + page * 4096)) };
    for page in 0..MMIO_PAGES {
        assert_eq!(map(page), Some(MMIO + page * 4096));
    }
    assert_eq!(map(MMIO_PAGES), None);
    let entry = fixture.tables.table(fixture.tables.ready.mmio).get(1);
    assert_eq!(entry.addr(), PhysAddr(0xfee0_1000));
    assert!(entry.flags().contains(PageTableFlags::NO_CACHE));
}

#[test]
fn frames_that_were_taken_in_vain_go_back() {
    let memory = TestMemory::new(16);
    let mut frames = TestFrames { memory: &memory, free: vec![], limit: 9, out: 0 };
    let mut spare = spare::Spare::new(&memory, &mut frames);
    spare.fill(2).unwrap();
    assert!(spare.take_of(3).is_none());
    let used = spare.take_of(2).unwrap();
    drop(spare);
    assert_eq!((frames.out, frames.take().is_some_and(|pfn| pfn != used.pfn())), (1, true));
}

#[test]
fn an_area_of_a_cpu_has_a_page_table_of_its_own_taken_first() {
    let memory = TestMemory::new(16);
    let mut fixture = Fixture::new(&memory);
    let [first, second] = [3, 4].map(|cpu| Area::of(CpuId(cpu)).unwrap());
    for (area, pfn) in [(first, 100), (second, 200)] {
        let own = memory.next_frame().unwrap().pfn();
        fixture.frames.free.push(own);
        for (at, pfn) in area.pages().zip(pfn..) {
            assert_eq!(fixture.map(at, small(pfn)), Ok(()));
        }
        let leaf = fixture.tables.inspect(VirtAddr(area.stack_top().0 - 1)).unwrap();
        assert_eq!(leaf.entry.addr().pfn(), Pfn(pfn + 31), "the last page of the stack");
        assert!(fixture.tables.inspect(area.stack_top()).is_none(), "a guard page");
        // SAFETY: it is a page table now.
        let table = unsafe { Table::at(&memory, own.addr()) };
        assert_eq!(table.get(1).addr().pfn(), Pfn(pfn), "behind the guard page");
    }
    assert_eq!(fixture.frames.out, 4, "two shared tables, and one for each area");
    assert!(fixture.flushes.borrow().is_empty());
}
