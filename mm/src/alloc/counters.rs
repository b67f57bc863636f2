//! The NUMA counters (reference: zones-and-zonelists, section 7).
#![forbid(unsafe_code)]

use core::ops::AddAssign;

use crate::sync::LocalWord;

/// What one CPU counted about one zone. Plain words of that CPU; summed when read. Hits are what
/// was served and no miss; whether it was local follows from the two nodes.
#[derive(Debug, Default)]
pub(super) struct LocalCounters {
    /// Served by the zone; what the pageset served by itself is counted there.
    pub(super) served: LocalWord,
    pub(super) miss: LocalWord,
    pub(super) foreign: LocalWord,
    pub(super) interleave_hit: LocalWord,
    pub(super) refills: LocalWord,
    pub(super) drains: LocalWord,
}

/// Where allocations were served, in allocations whatever their order (bulk: in frames).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NumaCounters {
    /// `numa_hit`: served here, and here was where the request began to look.
    pub hit: u64,
    /// `numa_miss`: served here, but the request began to look elsewhere.
    pub miss: u64,
    /// `numa_foreign`: the request began to look here, but was served elsewhere.
    pub foreign: u64,
    /// `interleave_hit`: served here, whose turn it was. A hit, too.
    pub interleave_hit: u64,
    /// `local_node`: served here to a CPU of this node.
    pub local: u64,
    /// `other_node`: served here to a CPU of another node.
    pub other: u64,
    /// Batches that pagesets took from the zone. Not of Linux.
    pub refills: u64,
    /// Batches that pagesets gave back to the zone. Not of Linux.
    pub drains: u64,
}

impl LocalCounters {
    /// The counters, `parked` allocations that the pageset served by itself included; `local` is
    /// whether the zone is of the CPU's node.
    pub(super) fn read(&self, parked: u64, local: bool) -> NumaCounters {
        let served = self.served.get().wrapping_add(parked);
        let miss = self.miss.get();
        NumaCounters {
            hit: served.wrapping_sub(miss),
            miss,
            foreign: self.foreign.get(),
            interleave_hit: self.interleave_hit.get(),
            local: if local { served } else { 0 },
            other: if local { 0 } else { served },
            refills: self.refills.get(),
            drains: self.drains.get(),
        }
    }

    /// Back to 0, as happens when the boot pageset gives way to the real one.
    pub(super) fn clear(&self) {
        let LocalCounters { served, miss, foreign, interleave_hit, refills, drains } = self;
        for word in [served, miss, foreign, interleave_hit, refills, drains] {
            word.set(0);
        }
    }
}

impl AddAssign for NumaCounters {
    fn add_assign(&mut self, more: NumaCounters) {
        self.hit = self.hit.wrapping_add(more.hit);
        self.miss = self.miss.wrapping_add(more.miss);
        self.foreign = self.foreign.wrapping_add(more.foreign);
        self.interleave_hit = self.interleave_hit.wrapping_add(more.interleave_hit);
        self.local = self.local.wrapping_add(more.local);
        self.other = self.other.wrapping_add(more.other);
        self.refills = self.refills.wrapping_add(more.refills);
        self.drains = self.drains.wrapping_add(more.drains);
    }
}
