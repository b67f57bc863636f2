//! The CPUs: each works in its own area, which lies on its own node.

use nearmem::{NodeId, Pfn, VirtAddr};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;
use nearmem_x86_64::cpu::{self, Area};

use crate::page_tables::{last_table, leaf};
use crate::support::nearest_with_memory;

kernel_tests! {
    a_cpu_works_on_the_stack_of_its_area,
    areas_lie_on_their_cpus_nodes,
}

fn a_cpu_works_on_the_stack_of_its_area(_kernel: &Kernel) {
    let here = 0u8;
    let at = VirtAddr((&raw const here).addr() as u64);
    let area = Area::of(cpu::current()).expect("a place for the area");
    let stack = area.stacks().next().expect("a stack");
    assert!(stack.contains(&at), "{at:?} is not in {stack:?}");
}

/// Every page of an area, and the page table that maps it.
fn areas_lie_on_their_cpus_nodes(kernel: &Kernel) {
    assert!(cpu::areas().count() > 0, "no CPU has an area");
    for area in cpu::areas() {
        let expected = nearest_with_memory(kernel, kernel.map.node_of_cpu(area.cpu()));
        let mut pages = 0;
        for at in area.pages() {
            let leaf = leaf(at).unwrap_or_else(|| panic!("{at:?} is not mapped"));
            assert!(leaf.writable && !leaf.executable, "{leaf:x?}");
            assert_eq!(on(kernel, leaf.to.pfn()), expected, "{at:?} of CPU {}", area.cpu());
            pages += 1;
        }
        assert_eq!(pages, Area::PAGES);
        let table = last_table(area.block().start).expect("a page table");
        assert_eq!(on(kernel, table.pfn()), expected, "the page table of CPU {}", area.cpu());
    }
}

fn on(kernel: &Kernel, frame: Pfn) -> NodeId {
    kernel.map.node_of(frame).unwrap_or_else(|| panic!("{frame:?} is no memory"))
}
