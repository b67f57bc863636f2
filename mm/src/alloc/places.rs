//! Where the subsystem's own tables lie, for whoever watches what touches them.
#![forbid(unsafe_code)]

use core::ops::Range;

use crate::platform::Platform;
use crate::units::VirtAddr;

use super::MemorySubsystem;

impl<P: Platform> MemorySubsystem<'_, P> {
    /// The tables that all CPUs share, this value included: of zones, of nodes, of CPUs, and the
    /// fallback orders. As addresses, since a caller keeps this value wherever it likes. What a CPU
    /// has for itself and what a zone has is not among them: see [`cpu_block`](Self::cpu_block),
    /// [`pageset_frame`](Self::pageset_frame) and [`zone_metadata`](Self::zone_metadata).
    pub fn shared_tables(&self) -> impl Iterator<Item = Range<VirtAddr>> + '_ {
        let tables = [range(core::slice::from_ref(self)), range(self.zones), range(self.nodes)];
        let orders = self.nodes.iter().map(|node| range(node.order));
        tables.into_iter().chain([range(self.cpus)]).chain(orders)
    }
}

fn range<T>(table: &[T]) -> Range<VirtAddr> {
    let Range { start, end } = table.as_ptr_range();
    VirtAddr(start.addr() as u64)..VirtAddr(end.addr() as u64)
}
