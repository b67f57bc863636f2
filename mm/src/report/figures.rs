//! The figures that reports are made of: plain numbers, taken at one moment.

use crate::alloc::NumaCounters;
use crate::units::{Order, PAGE_SIZE, PfnRange};
use crate::zone::{Watermarks, ZoneId, ZoneKind};

/// Frames of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeMemory {
    /// Frames with RAM; MemTotal of 2007.
    pub present: u64,
    /// Frames that were given to the zones; MemTotal of today.
    pub managed: u64,
    /// Free frames in the zones. Those parked in pagesets are not free.
    pub free: u64,
}

impl NodeMemory {
    /// Frames of the node that are not free, boot memory included; MemUsed of 2007.
    pub const fn used(&self) -> u64 {
        self.present.saturating_sub(self.free)
    }

    /// Frames of the zones that are not free; MemUsed of today.
    pub const fn used_of_managed(&self) -> u64 {
        self.managed.saturating_sub(self.free)
    }

    /// Both nodes' frames.
    pub const fn plus(self, other: NodeMemory) -> NodeMemory {
        NodeMemory {
            present: self.present.saturating_add(other.present),
            managed: self.managed.saturating_add(other.managed),
            free: self.free.saturating_add(other.free),
        }
    }
}

/// One populated zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneFigures {
    /// Which zone.
    pub id: ZoneId,
    /// From its first frame to its last, holes included.
    pub span: PfnRange,
    /// Frames with RAM of this node.
    pub present: u64,
    /// Frames that were given to the zone.
    pub managed: u64,
    /// Free frames.
    pub free: u64,
    /// In frames.
    pub marks: Watermarks,
    /// Frames kept from requests that could use a higher zone, by that zone's kind.
    pub protection: [u64; ZoneKind::ALL.len()],
    /// Free blocks of each order.
    pub blocks: [u64; Order::COUNT],
    /// Where allocations were served.
    pub counters: NumaCounters,
}

/// One CPU's pageset of one zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PagesetFigures {
    /// Frames parked now.
    pub count: u64,
    /// Frames from which on a free drains.
    pub high: u64,
    /// Frames of one refill or drain.
    pub batch: u64,
}

/// kB (1024 bytes) in `frames`.
pub const fn kb(frames: u64) -> u64 {
    frames.saturating_mul(PAGE_SIZE / 1024)
}

/// MiB in `frames`, rounded down.
pub const fn mib(frames: u64) -> u64 {
    frames / ((1 << 20) / PAGE_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_is_what_is_not_free_and_never_wraps() {
        let node = NodeMemory { present: 100, managed: 90, free: 60 };
        assert_eq!((node.used(), node.used_of_managed()), (40, 30));
        // A reader that races with a free may see more free frames than managed ones.
        let raced = NodeMemory { present: 10, managed: 8, free: 9 };
        assert_eq!(raced.used_of_managed(), 0);
    }

    #[test]
    fn frames_convert_to_kb_and_whole_mib() {
        assert_eq!((kb(3), kb(u64::MAX)), (12, u64::MAX));
        assert_eq!((mib(255), mib(256), mib(513)), (0, 1, 2));
    }
}
