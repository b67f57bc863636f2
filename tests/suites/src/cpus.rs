//! The CPUs: all that are present run, each in an area on its own node; work and calls reach them,
//! and a translation that is gone is gone on all of them.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nearmem::vmalloc::VmRequest;
use nearmem::{CpuId, NodeId, PAGE_SIZE, Pfn, VirtAddr};
use nearmem_kernel::{Kernel, cpus};
use nearmem_suites::kernel_tests;
use nearmem_x86_64::cpu::{self, Area};
use nearmem_x86_64::exceptions::probe;
use nearmem_x86_64::remote;

use crate::page_tables::{last_table, leaf};
use crate::support::{nearest_with_memory, some_cpus as some};

kernel_tests! {
    all_present_cpus_are_up,
    work_runs_on_all_cpus_at_once,
    a_cpu_works_on_the_stack_of_its_area,
    areas_lie_on_their_cpus_nodes,
    a_call_runs_on_every_cpu_with_interrupts_off,
    calls_of_several_cpus_at_once_are_all_done,
    a_freed_area_faults_on_every_cpu,
}

fn all(kernel: &Kernel) -> Vec<CpuId> {
    cpus::online(kernel.memory)
}

/// Runs `work` on all CPUs and expects that all of them did it.
fn on_all(kernel: &Kernel, work: &(dyn Fn(CpuId) + Sync)) {
    let cpus = all(kernel);
    assert_eq!(cpus::run_on(&cpus, work), cpus.len());
}

fn all_present_cpus_are_up(kernel: &Kernel) {
    let present: Vec<CpuId> = (0..kernel.map.cpus().len() as u16).map(CpuId).collect();
    assert_eq!(all(kernel), present);
}

/// Nobody comes out before all are in.
fn work_runs_on_all_cpus_at_once(kernel: &Kernel) {
    let cpus = all(kernel);
    let inside = AtomicUsize::new(0);
    let ran: Vec<AtomicBool> = cpus.iter().map(|_| AtomicBool::new(false)).collect();
    on_all(kernel, &|cpu| {
        assert_eq!(cpu::current(), cpu);
        assert!(!ran[cpu.index()].swap(true, Ordering::Relaxed), "twice on CPU {cpu}");
        inside.fetch_add(1, Ordering::Relaxed);
        while inside.load(Ordering::Relaxed) < cpus.len() {
            core::hint::spin_loop();
        }
    });
    assert!(ran.iter().all(|ran| ran.load(Ordering::Relaxed)));
}

fn a_call_runs_on_every_cpu_with_interrupts_off(kernel: &Kernel) {
    let calls: Vec<AtomicUsize> = all(kernel).iter().map(|_| AtomicUsize::new(0)).collect();
    let count = |calls: &[AtomicUsize]| -> Vec<usize> {
        calls.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    };
    let work = || {
        calls[cpu::current().index()].fetch_add(1, Ordering::Relaxed);
    };
    remote::on_all(&work);
    assert_eq!(count(&calls), alloc::vec![1; calls.len()]);
    for &cpu in all(kernel).iter().filter(|&&cpu| cpu != cpu::current()) {
        let off = AtomicBool::new(false);
        let called = remote::on(cpu, &|| {
            work();
            off.store(!x86_64::instructions::interrupts::are_enabled(), Ordering::Relaxed);
        });
        assert!(called && off.load(Ordering::Relaxed), "CPU {cpu}");
    }
    let mut expected = alloc::vec![2; calls.len()];
    expected[cpu::current().index()] = 1;
    assert_eq!(count(&calls), expected);
    assert!(!remote::on(CpuId(u16::MAX), &|| panic!("there is no such CPU")));
}

/// Up to 8 CPUs call all, at the same time: nobody waits for ever, and no call is lost.
fn calls_of_several_cpus_at_once_are_all_done(kernel: &Kernel) {
    const EACH: usize = 8;
    let (callers, calls) = (some(kernel), AtomicUsize::new(0));
    let did = cpus::run_on(&callers, &|_| {
        for _ in 0..EACH {
            remote::on_all(&|| {
                calls.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(did, callers.len());
    assert_eq!(calls.into_inner(), EACH * callers.len() * all(kernel).len());
}

/// All CPUs read an area, and may remember where it is. What is there afterwards is another frame,
/// or nothing: each CPU has to see that.
fn a_freed_area_faults_on_every_cpu(kernel: &Kernel) {
    let area = kernel.vmalloc.alloc(&VmRequest::new(PAGE_SIZE).zeroed()).expect("an area");
    let at = area.start();
    on_all(kernel, &|cpu| assert_eq!(probe::read(at), Ok(0), "CPU {cpu}"));
    kernel.vmalloc.free(area).expect("it was allocated");
    on_all(kernel, &|cpu| {
        let fault = probe::read(at).expect_err("the area is gone");
        assert_eq!(fault.vector, 14, "CPU {cpu}");
    });
}

fn a_cpu_works_on_the_stack_of_its_area(kernel: &Kernel) {
    on_all(kernel, &|_| on_the_stack_of_its_area());
}

fn on_the_stack_of_its_area() {
    let here = 0u8;
    let at = VirtAddr((&raw const here).addr() as u64);
    let area = Area::of(cpu::current()).expect("a place for the area");
    let stack = area.stacks().next().expect("a stack");
    assert!(stack.contains(&at), "{at:?} is not in {stack:?}");
}

/// Every page of an area, and the page table that maps it.
fn areas_lie_on_their_cpus_nodes(kernel: &Kernel) {
    assert_eq!(cpu::areas().count(), all(kernel).len(), "areas");
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
