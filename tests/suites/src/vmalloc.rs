//! vmalloc: areas that are memory, gaps that are not, and nothing left behind.

use alloc::vec::Vec;

use nearmem::alloc::{Interleave, Policy, interleave_nodes};
use nearmem::platform::MapSize;
use nearmem::vmalloc::{VfreeError, VmArea, VmRequest, VmallocError};
use nearmem::{NodeId, PAGE_SIZE, VirtAddr};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;
use nearmem_x86_64::exceptions::probe;

use crate::page_tables::leaf;
use crate::support::{all_free_frames, runs};

kernel_tests! {
    an_area_holds_what_is_written_to_it,
    the_pages_beside_an_area_fault,
    an_area_is_mapped_writable_and_never_executable,
    a_freed_area_faults_and_gives_all_frames_back,
    a_zeroed_area_is_zero,
    interleaved_pages_lie_as_run_arithmetic_says,
    a_preferred_node_has_all_pages,
    two_mib_pages_are_used_where_each_node_gets_one,
    areas_never_overlap,
    impossible_requests_are_refused_at_no_cost,
    an_area_cannot_be_freed_twice,
}

const MIB: u64 = 1 << 20;

fn allocate<'a>(kernel: &'a Kernel, request: &VmRequest<'_>) -> VmArea<'a> {
    kernel.vmalloc.alloc(request).unwrap_or_else(|error| panic!("{error}"))
}

fn free(kernel: &Kernel, area: VmArea<'_>) {
    kernel.vmalloc.free(area).unwrap_or_else(|error| panic!("{error}"));
}

/// The words of an area, to read and write while it is held.
fn words<'a>(area: &'a mut VmArea<'_>) -> &'a mut [u64] {
    let count = area.bytes() as usize / size_of::<u64>();
    // SAFETY: the area is memory of so many bytes, page aligned, and whoever holds it, here by a
    // unique borrow, is the only one to use it. Any bytes are words.
    unsafe { core::slice::from_raw_parts_mut(area.as_ptr(), count) }
}

fn an_area_holds_what_is_written_to_it(kernel: &Kernel) {
    let mut area = allocate(kernel, &VmRequest::new(3 * MIB - 1));
    assert_eq!(area.bytes(), 3 * MIB, "bytes are rounded up to whole pages");
    for (at, word) in words(&mut area).iter_mut().enumerate() {
        *word = at as u64;
    }
    assert!(words(&mut area).iter().enumerate().all(|(at, &word)| word == at as u64));
    free(kernel, area);
}

fn the_pages_beside_an_area_fault(kernel: &Kernel) {
    let area = allocate(kernel, &VmRequest::new(5 * PAGE_SIZE));
    let (start, end) = (area.start(), area.start() + area.bytes());
    for at in [start, VirtAddr(end.0 - 1)] {
        probe::read(at).expect("a byte of the area");
    }
    for at in [VirtAddr(start.0 - 1), end, end + (PAGE_SIZE - 1)] {
        let fault = probe::read(at).expect_err("a byte beside the area can be read");
        assert_eq!((fault.vector, fault.error_code & 1), (14, 0), "{at:?}");
    }
    free(kernel, area);
}

fn an_area_is_mapped_writable_and_never_executable(kernel: &Kernel) {
    let area = allocate(kernel, &VmRequest::new(4 * PAGE_SIZE));
    let frames: Vec<_> = (0..4)
        .map(|page| {
            let at = area.start() + page * PAGE_SIZE;
            let leaf = leaf(at).unwrap_or_else(|| panic!("{at:?} is not mapped"));
            assert!(leaf.writable && !leaf.executable, "{leaf:x?}");
            leaf.to.pfn()
        })
        .collect();
    for (at, pfn) in frames.iter().enumerate() {
        assert!(kernel.map.node_of(*pfn).is_some(), "{pfn:?} is no memory");
        assert!(!frames[..at].contains(pfn), "{pfn:?} is mapped twice");
    }
    free(kernel, area);
}

fn a_freed_area_faults_and_gives_all_frames_back(kernel: &Kernel) {
    // The first area of all may leave a page of vmalloc's own records behind.
    let first = allocate(kernel, &VmRequest::new(MIB));
    free(kernel, first);
    let before = all_free_frames(kernel);
    let area = allocate(kernel, &VmRequest::new(5 * MIB));
    let (start, pages) = (area.start(), area.pages());
    assert!(all_free_frames(kernel) <= before - pages);
    probe::read(start).expect("a byte of the area");
    free(kernel, area);
    for page in [0, 1, pages / 2, pages - 1] {
        let at = start + page * PAGE_SIZE;
        assert!(probe::read(at).is_err(), "{at:?} can be read after it was freed");
    }
    assert_eq!(all_free_frames(kernel), before, "free frames, page tables included");
}

fn a_zeroed_area_is_zero(kernel: &Kernel) {
    for request in [VmRequest::new(2 * MIB), VmRequest::new(2 * MIB).zeroed()] {
        let mut area = allocate(kernel, &request);
        if request.zero {
            assert!(words(&mut area).iter().all(|&word| word == 0));
        }
        words(&mut area).fill(u64::MAX);
        free(kernel, area);
    }
}

fn interleaved_pages_lie_as_run_arithmetic_says(kernel: &Kernel) {
    let nodes = interleave_nodes(kernel.map);
    for pages in [1, 7, 100, 256, 1000, 2048] {
        let turns = Interleave::new(nodes);
        let request = VmRequest::new(pages * PAGE_SIZE).on(Policy::Interleave(&turns));
        let area = allocate(kernel, &request);
        let counts: Vec<(NodeId, u64)> = kernel.vmalloc.pages_by_node(&area.info()).collect();
        assert_eq!(counts, runs(pages, &nodes), "{pages} pages");
        free(kernel, area);
    }
}

fn a_preferred_node_has_all_pages(kernel: &Kernel) {
    for node in interleave_nodes(kernel.map).iter() {
        let area = allocate(kernel, &VmRequest::new(2 * MIB).on(Policy::Preferred(node)));
        let counts: Vec<_> = kernel.vmalloc.pages_by_node(&area.info()).collect();
        assert_eq!(counts, [(node, 512)]);
        free(kernel, area);
    }
}

/// One block for each interleaved node, and then one page less for each: too small for 2 MiB.
fn two_mib_pages_are_used_where_each_node_gets_one(kernel: &Kernel) {
    let online = kernel.map.online().len() as u64;
    let nodes = interleave_nodes(kernel.map);
    for (bytes, leaf) in
        [(online * 2 * MIB, MapSize::Huge), (online * 2 * MIB - PAGE_SIZE, MapSize::Small)]
    {
        let turns = Interleave::new(nodes);
        let request = VmRequest::new(bytes).on(Policy::Interleave(&turns)).huge();
        let mut area = allocate(kernel, &request);
        assert_eq!(area.info().leaf, leaf, "{bytes} bytes on {online} nodes");
        assert!(area.start().0.is_multiple_of(leaf.bytes()), "{:?}", area.start());
        words(&mut area).fill(1);
        assert!(words(&mut area).iter().all(|&word| word == 1));
        free(kernel, area);
    }
}

fn areas_never_overlap(kernel: &Kernel) {
    let mut areas: Vec<VmArea<'_>> =
        (1..40).map(|pages| allocate(kernel, &VmRequest::new(pages * PAGE_SIZE))).collect();
    // Every other one comes anew, into the gaps.
    for at in (0..areas.len()).step_by(2) {
        let new = VmRequest::new((at as u64 % 7 + 1) * PAGE_SIZE);
        free(kernel, areas.remove(at));
        areas.insert(at, allocate(kernel, &new));
    }
    let mut all: Vec<_> = kernel.vmalloc.areas().collect();
    assert!(areas.iter().all(|area| all.contains(&area.info())), "an area is not listed");
    all.sort_by_key(|area| area.start);
    for pair in all.windows(2) {
        let end = pair[0].start + pair[0].bytes_with_guard();
        assert!(end <= pair[1].start, "{:?} and {:?}", pair[0], pair[1]);
    }
    areas.into_iter().for_each(|area| free(kernel, area));
}

fn impossible_requests_are_refused_at_no_cost(kernel: &Kernel) {
    let before = all_free_frames(kernel);
    let error = |bytes| kernel.vmalloc.alloc(&VmRequest::new(bytes)).err();
    assert_eq!(error(0), Some(VmallocError::Empty));
    assert!(matches!(error(u64::MAX), Some(VmallocError::TooLarge { .. })));
    // All that the machine has is more than it can give.
    let memory: u64 = kernel.memory.zones().iter().map(|zone| zone.managed()).sum();
    assert!(matches!(error(memory * PAGE_SIZE), Some(VmallocError::NoFrame(_))));
    assert_eq!(all_free_frames(kernel), before, "free frames after refusals");
}

fn an_area_cannot_be_freed_twice(kernel: &Kernel) {
    let area = allocate(kernel, &VmRequest::new(PAGE_SIZE));
    let at = area.start();
    free(kernel, area);
    // SAFETY: not what the raw door asks for, but what it has to find out: no area starts there.
    let again = unsafe { kernel.vmalloc.from_raw(at) };
    assert_eq!(again.err(), Some(VfreeError::NoArea { at }));
}
