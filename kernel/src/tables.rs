//! The large system hash tables of this boot: planned from the memory there is, the early ones
//! from boot memory, the others from vmalloc or the page allocator.

use alloc::vec::Vec;

use nearmem::alloc::Interleave;
use nearmem::hash::{HashError, HashMachine, HashOptions, MemoryPages, Plan};
use nearmem::memblock::MemBlock;
use nearmem::topology::NodeMap;
use nearmem::zone::kernel_pages;
use nearmem_x86_64::{X86Platform, println};

use crate::VirtualMemory;

/// One table of this machine.
pub type Table = nearmem::hash::Table<'static, X86Platform>;

/// The early tables, while there is no heap: at most three are (PID, dentry, inode).
pub type EarlyTables = [Option<Table>; 4];

/// What the tables shall be.
pub fn plan(options: &HashOptions, map: &NodeMap<'_>, boot_memory: &MemBlock<'_>) -> Plan {
    let frames = kernel_pages(map, boot_memory.dma_reserve());
    println!("Hash tables are sized for {frames} frames");
    let machine = HashMachine {
        memory: MemoryPages { kernel: frames, all: frames },
        possible_cpus: map.cpus().len() as u32,
        nodes_with_memory: map.with_memory().len(),
    };
    Plan::new(options, machine)
}

/// Takes the early tables from boot memory.
///
/// # Safety
/// As [`Plan::allocate_early`]: boot memory is RAM in the direct map in force, and what is not
/// reserved there is nobody's.
pub unsafe fn early(
    plan: &Plan,
    boot_memory: &mut MemBlock<'_>,
    platform: &X86Platform,
) -> EarlyTables {
    let mut early = EarlyTables::default();
    // SAFETY: the caller's promise.
    let tables = unsafe { plan.allocate_early(boot_memory, platform) };
    for (slot, table) in early.iter_mut().zip(tables) {
        *slot = logged(table);
    }
    early
}

/// Takes the other tables, on the turns of the boot's interleave policy, and gives all of them.
pub fn late(
    early: EarlyTables,
    plan: &Plan,
    vmalloc: &'static VirtualMemory,
    turns: &Interleave,
) -> Vec<Table> {
    let late = plan.allocate_late(vmalloc, turns).filter_map(logged);
    early.into_iter().flatten().chain(late).collect()
}

/// The log line of a table; a line that says what happened where memory was short.
fn logged(table: Result<Table, HashError>) -> Option<Table> {
    match table {
        Ok(table) => {
            println!("{}", table.info());
            if let Some(shortfall) = table.info().shortfall() {
                println!("warning: {shortfall}");
            }
            Some(table)
        }
        Err(error) => {
            println!("warning: {error}");
            None
        }
    }
}
