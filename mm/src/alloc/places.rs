//! Where the subsystem's own tables lie, for whoever watches what touches them.
#![forbid(unsafe_code)]

use core::ops::Range;

use crate::platform::CpuPlatform;
use crate::units::VirtAddr;

use super::MemorySubsystem;

impl<P: CpuPlatform> MemorySubsystem<'_, P> {
    /// What all CPUs share, this value included, each with a name. As addresses, since a caller
    /// keeps this value wherever it likes. What a CPU has for itself and what a zone has is not
    /// among them: see [`cpu_block`](Self::cpu_block), [`pageset_frame`](Self::pageset_frame) and
    /// [`zone_metadata`](Self::zone_metadata).
    pub fn shared_tables(&self) -> impl Iterator<Item = (&'static str, Range<VirtAddr>)> + '_ {
        let orders = self.nodes.iter().map(|node| ("fallback order", range(node.order)));
        [
            ("memory subsystem", range(core::slice::from_ref(self))),
            ("table of zones", range(self.zones)),
            ("table of nodes", range(self.nodes)),
            ("table of CPUs", range(self.cpus)),
        ]
        .into_iter()
        .chain(orders)
    }
}

fn range<T>(table: &[T]) -> Range<VirtAddr> {
    let Range { start, end } = table.as_ptr_range();
    VirtAddr(start.addr() as u64)..VirtAddr(end.addr() as u64)
}
