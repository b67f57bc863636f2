//! What the boot cost, from the [moments](crate::moments) that it noted.
//!
//! * `memory_startup`: from before the firmware's tables are read until zones and pagesets are up,
//!   hash tables and serial output apart.
//! * `memory_startup_output`: that output (formatting and waiting for the port), so that it is not
//!   lost.
//! * `boot_to_allocator`: from the kernel's first instruction until every node with memory has given
//!   a frame, hash tables and serial output apart.

use alloc::vec::Vec;

use nearmem::alloc::Policy;

use super::Figure;
use super::measure::{PAGE, free};
use crate::moments::{Moment, Moments};
use crate::{Kernel, Memory};

pub(super) fn figures(kernel: &Kernel) -> Vec<Figure> {
    let Moments { start, tables, ready, first } = kernel.moments;
    let startup = ready.since(start).since(tables);
    let once = |name, count| Figure::once(name, "instructions", count, 1);
    let startup =
        [once("memory_startup", startup.work()), once("memory_startup_output", startup.output)];
    let first = first.map(|first| once("boot_to_allocator", first.since(tables).work()));
    startup.into_iter().chain(first).collect()
}

/// Takes one frame from each node with memory and gives them back; the moment between the two.
/// `None` when a node had none.
pub fn allocate_on_every_node(memory: &Memory) -> Option<Moment> {
    let mut done = None;
    for node in memory.map().with_memory().iter() {
        let block = memory.alloc(&PAGE.on(Policy::Preferred(node))).ok()?;
        done = Some(Moment::now());
        let served = block.zone().node;
        free(memory.free(block));
        if served != node {
            return None;
        }
    }
    done
}
