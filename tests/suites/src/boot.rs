//! What boot leaves behind: the CPU's modes, page tables without a page that is writable and
//! executable, guard pages, and facts that agree with the node map.

use alloc::vec::Vec;

use nearmem::{PAGE_SIZE, PhysAddr, PhysRange, VirtAddr};
use nearmem_kernel::{Kernel, facts};
use nearmem_suites::kernel_tests;
use nearmem_x86_64::cpu::stacks;
use nearmem_x86_64::exceptions::probe;
use nearmem_x86_64::layout::DIRECT_MAP;
use nearmem_x86_64::paging::direct_map;
use x86_64::registers::control::{Cr0, Cr0Flags, Cr4, Cr4Flags};
use x86_64::registers::model_specific::{Efer, EferFlags};

use crate::page_tables::{Leaf, leaf, leaves};

kernel_tests! {
    the_cpu_is_in_long_mode_with_protection_on,
    no_page_is_writable_and_executable,
    no_frame_is_writable_here_and_executable_there,
    code_is_read_only_and_constants_do_not_run,
    all_memory_is_in_the_direct_map,
    guard_pages_fault,
    null_and_the_lower_half_fault,
    facts_agree_with_the_node_map,
}

fn the_cpu_is_in_long_mode_with_protection_on(_kernel: &Kernel) {
    let efer = Efer::read();
    assert!(efer.contains(EferFlags::LONG_MODE_ACTIVE | EferFlags::NO_EXECUTE_ENABLE), "{efer:?}");
    let cr0 = Cr0::read();
    assert!(cr0.contains(Cr0Flags::PAGING | Cr0Flags::WRITE_PROTECT), "{cr0:?}");
    assert!(!Cr4::read().contains(Cr4Flags::L5_PAGING), "tables have four levels here");
}

fn no_page_is_writable_and_executable(_kernel: &Kernel) {
    let mut count = 0;
    leaves(&mut |leaf| {
        count += 1;
        assert!(!(leaf.writable && leaf.executable), "{leaf:x?}");
    });
    assert!(count > 0, "the walk found nothing");
}

/// The direct map is a second way to every frame, the code's included.
fn no_frame_is_writable_here_and_executable_there(_kernel: &Kernel) {
    let frames = |leaf: &Leaf| PhysRange { start: leaf.to, end: leaf.to + leaf.bytes };
    let mut executable: Vec<PhysRange> = Vec::new();
    leaves(&mut |leaf| {
        if leaf.executable {
            executable.push(frames(&leaf));
        }
    });
    assert!(!executable.is_empty(), "no code is mapped");
    leaves(&mut |leaf| {
        let runs = executable.iter().any(|range| range.overlaps(frames(&leaf)));
        assert!(!(leaf.writable && runs), "{leaf:x?} is code elsewhere");
    });
}

fn code_is_read_only_and_constants_do_not_run(_kernel: &Kernel) {
    static CONSTANT: u64 = 7;
    let rights = |at: u64| {
        let leaf = leaf(VirtAddr(at)).unwrap_or_else(|| panic!("{at:#x} is not mapped"));
        (leaf.writable, leaf.executable, leaf.to + (at - leaf.at.0))
    };
    let (writable, executable, code) = rights(guard_pages_fault as *const () as u64);
    assert!(!writable && executable, "code");
    let (writable, executable, _) = rights((&raw const CONSTANT).addr() as u64);
    assert!(!writable && !executable, "a constant");
    let variable = 0u64;
    let (writable, executable, _) = rights((&raw const variable).addr() as u64);
    assert!(writable && !executable, "the stack");

    // The second way to the code, by a write that really happens or faults: to one byte of code,
    // and what is written is what was there.
    let alias = VirtAddr(direct_map(code).addr() as u64);
    let byte = probe::read(alias).expect("code can be read through the direct map");
    // SAFETY: it writes the byte that is there already.
    let write = unsafe { probe::write(alias, byte) };
    assert_eq!(write.map_err(|fault| fault.vector), Err(14), "a write to code");
}

fn all_memory_is_in_the_direct_map(kernel: &Kernel) {
    for range in kernel.map.ranges() {
        let bytes = range.frames.bytes();
        let mut at = bytes.start;
        while at < bytes.end {
            let leaf = leaf(VirtAddr(DIRECT_MAP.0 + at.0));
            let leaf = leaf.unwrap_or_else(|| panic!("{at:?} is not in the direct map"));
            assert_eq!(leaf.to.0 + (DIRECT_MAP.0 + at.0 - leaf.at.0), at.0, "{leaf:x?}");
            assert!(!leaf.executable, "{leaf:x?}");
            at = PhysAddr(leaf.to.0 + leaf.bytes);
        }
    }
}

fn guard_pages_fault(_kernel: &Kernel) {
    let mut count = 0;
    for page in stacks::guard_pages() {
        count += 1;
        for at in [page, page + (PAGE_SIZE - 1)] {
            let fault = probe::read(at).expect_err("a guard page can be read");
            assert_eq!((fault.vector, fault.error_code & 1), (14, 0), "{at:?} is not left out");
        }
        probe::read(page + PAGE_SIZE).expect("the stack above its guard page");
    }
    assert!(count >= 2, "guard pages of {count} stacks");
}

fn null_and_the_lower_half_fault(_kernel: &Kernel) {
    for at in [0, 0x1000, 0x10_0000, 0x7fff_ffff_f000] {
        assert!(probe::read(VirtAddr(at)).is_err(), "{at:#x} can be read");
    }
    let fault = probe::read(VirtAddr(0x8000_0000_0000_0000)).expect_err("no such address");
    assert_eq!(fault.vector, 13, "general protection");
}

fn facts_agree_with_the_node_map(kernel: &Kernel) {
    let facts = facts::facts(kernel);
    let exact = &facts["exact"];
    let nodes = exact["nodes"].as_array().expect("a list of nodes");
    assert_eq!(nodes.len(), kernel.map.online().len());
    for (node, id) in nodes.iter().zip(kernel.map.online().iter()) {
        assert_eq!(node["id"], id.0);
        let bytes = |range: &serde_json::Value| {
            range[1].as_u64().expect("an end") - range[0].as_u64().expect("a start")
        };
        let memory: u64 = node["memory"].as_array().expect("ranges").iter().map(bytes).sum();
        let frames: u64 = kernel.map.node_ranges(id).map(|range| range.len()).sum();
        assert_eq!(memory, frames * PAGE_SIZE, "memory of node {id}");
        let cpus = kernel.map.cpus_of(id).count();
        assert_eq!(node["cpus"].as_array().map(Vec::len), Some(cpus), "CPUs of node {id}");
    }
    for (row, from) in kernel.map.online().iter().enumerate() {
        for (column, to) in kernel.map.online().iter().enumerate() {
            let distance = kernel.map.distance(from, to);
            assert_eq!(exact["distances"][row][column], distance, "from {from} to {to}");
        }
    }
}
