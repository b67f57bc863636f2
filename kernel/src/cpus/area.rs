//! Memory for the area of a CPU, on its node: stacks, block, and the page table that maps them.

use core::fmt;

use nearmem::alloc::{AllocError, FrameBlock, Policy, Request};
use nearmem::platform::{MapError, TableFrames};
use nearmem::{CpuId, NodeId, Order, Pfn};
use nearmem_x86_64::cpu::Area;

use crate::Memory;

/// The block that an area takes: its pages, its page table, and at most what the order rounds up.
const ORDER: Order = Order::new((Area::PAGES + 1).next_power_of_two().ilog2() as u8).unwrap();

/// Why a CPU has no area.
#[derive(Debug)]
pub enum AreaError {
    /// No block for it.
    Memory(AllocError),
    /// Not mapped.
    Map(MapError),
    /// The CPU's number is beyond all areas.
    Number,
}

impl fmt::Display for AreaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AreaError::Memory(error) => write!(f, "{error}"),
            AreaError::Map(error) => write!(f, "its pages cannot be mapped: {error:?}"),
            AreaError::Number => f.write_str("its number is beyond the CPUs' areas"),
        }
    }
}

/// Makes the area of a CPU, once, on its node or the nearest one that has room; says which.
///
/// # Errors
/// No memory for it.
pub fn make(memory: &'static Memory, cpu: CpuId) -> Result<(Area, NodeId), AreaError> {
    let area = Area::of(cpu).ok_or(AreaError::Number)?;
    let request = Request::new(ORDER).on(Policy::Preferred(memory.map().node_of_cpu(cpu)));
    let block = memory.alloc(&request).map_err(AreaError::Memory)?;
    let node = block.zone().node;
    // It stays the area's for good, also if something of it is not mapped in the end.
    let first = block.leak();
    let mut tables = Tables { memory, own: Some(first + Area::PAGES) };
    let frames = (0..Area::PAGES).map(|page| first + page);
    // SAFETY: the block was just allocated and leaked.
    unsafe { memory.platform().map_area(area, frames, &mut tables) }.map_err(AreaError::Map)?;
    Ok((area, node))
}

/// Frames for page tables: the first of the area's block, others from anywhere near.
struct Tables {
    memory: &'static Memory,
    own: Option<Pfn>,
}

impl TableFrames for Tables {
    fn take(&mut self) -> Option<Pfn> {
        let other = || self.memory.alloc(&Request::new(Order::ZERO)).ok().map(FrameBlock::leak);
        self.own.take().or_else(other)
    }

    fn give_back(&mut self, pfn: Pfn) {
        // SAFETY: `take` leaked it, by itself or as a part of the area's block.
        let block = unsafe { FrameBlock::from_raw(self.memory, pfn, Order::ZERO) };
        let _ = block.map(|block| self.memory.free(block));
    }
}
