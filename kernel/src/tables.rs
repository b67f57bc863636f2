//! The large system hash tables of this boot.

use alloc::vec::Vec;
use nearmem::NodeId;
use nearmem::alloc::Interleave;
use nearmem::hash::{HashMachine, HashOptions, MemoryPages, Plan, TableInfo};
use nearmem::memblock::MemBlock;
use nearmem::topology::NodeMap;
use nearmem::zone::kernel_pages;
use nearmem_x86_64::X86Platform;

use crate::VirtualMemory;

pub struct Table(TableInfo);
impl Table {
    pub fn info(&self) -> &TableInfo { &self.0 }
    pub fn pages_by_node(&self) -> impl Iterator<Item = (NodeId, u64)> { core::iter::empty() }
}

/// What the tables of this machine shall be.
pub fn plan(options: &HashOptions, map: &NodeMap<'_>, boot_memory: &MemBlock<'_>) -> Plan {
    let frames = kernel_pages(map, boot_memory.dma_reserve());
    let machine = HashMachine {
        memory: MemoryPages { kernel: frames, all: frames },
        possible_cpus: map.cpus().len() as u32,
        nodes_with_memory: map.with_memory().len(),
    };
    Plan::new(options, machine)
}
pub fn early(_plan: &Plan, _b: &mut MemBlock<'_>, _p: &X86Platform) -> Vec<Table> { Vec::new() }
pub fn late(early: Vec<Table>, _plan: &Plan, _v: &'static VirtualMemory, _t: &Interleave) -> Vec<Table> { early }
