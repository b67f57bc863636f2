//! What a simulated machine looks like.

use std::vec;
use std::vec::Vec;

use crate::ids::{ApicId, NodeId};
use crate::topology::{Cpu, NodeRange};
use crate::units::PfnRange;

use super::machine::SimMachine;

/// The most RAM, in bytes, that a machine fills with 0xA5. Larger ones must be
/// [`untouched`](SimBuilder::untouched).
pub const FILL_LIMIT: u64 = 768 << 20;

const MIB: u64 = 1 << 20;
/// Where RAM of a PC ends when there is more than [`HOLE_FROM`]; the rest continues at 4 GiB.
const LOW_RAM_END: u64 = 2048 * MIB;
/// RAM of this size reaches below 4 GiB without a hole (QEMU's q35).
const HOLE_FROM: u64 = 2816 * MIB;

/// Describes a machine. Nodes get their ids in the order in which they are named; CPUs likewise.
#[derive(Clone, Debug, Default)]
pub struct SimBuilder {
    /// Memory of each node that is laid end to end, in bytes.
    sizes: Vec<(NodeId, u64)>,
    explicit: Vec<(NodeId, u64, u64)>,
    cpus: Vec<Cpu>,
    nodes: u16,
    distances: Option<Vec<u8>>,
    pc_holes: bool,
    untouched: bool,
}

/// The same, resolved.
pub(super) struct Layout {
    /// Ascending, disjoint, touching ranges of one node joined.
    pub(super) ranges: Vec<NodeRange>,
    pub(super) cpus: Vec<Cpu>,
    pub(super) nodes: u16,
    /// `nodes * nodes`, row by row.
    pub(super) distances: Vec<u8>,
    pub(super) fill: bool,
}

impl SimBuilder {
    /// The next node: `mem_bytes` of memory after that of the node before (a multiple of 4096;
    /// may be 0), and `cpus` CPUs (may be 0).
    pub fn node(mut self, mem_bytes: u64, cpus: u16) -> SimBuilder {
        let node = NodeId(self.nodes);
        self.nodes += 1;
        self.sizes.push((node, mem_bytes));
        for _ in 0..cpus {
            self.cpus.push(Cpu { apic: ApicId(self.cpus.len() as u32), node });
        }
        self
    }

    /// Memory at a given place, `start..end` in bytes, for a node that is named already. It may
    /// not overlap other memory.
    pub fn range(mut self, node: u16, start: u64, end: u64) -> SimBuilder {
        assert!(node < self.nodes, "node {node} is not named yet: call node() first");
        self.explicit.push((NodeId(node), start, end));
        self
    }

    /// Lays the nodes as QEMU's q35 does: no RAM from 0x9fc00 to 1 MiB, and from 2816 MiB on what
    /// is above 2 GiB moves to 4 GiB. Without this there is no hole.
    pub fn pc_holes(mut self) -> SimBuilder {
        self.pc_holes = true;
        self
    }

    /// Distances row by row, one for each pair of nodes. Without this they are 10 and 20.
    pub fn distances(mut self, distances: &[u8]) -> SimBuilder {
        self.distances = Some(distances.to_vec());
        self
    }

    /// Leaves RAM as the host gives it: zero, and taken from the host when it is touched. For
    /// machines above [`FILL_LIMIT`].
    pub fn untouched(mut self) -> SimBuilder {
        self.untouched = true;
        self
    }

    /// Makes the machine.
    ///
    /// # Panics
    /// When the description contradicts itself, or the machine is above [`FILL_LIMIT`] and not
    /// `untouched`.
    pub fn build(self) -> SimMachine {
        SimMachine::new(self.layout())
    }

    fn layout(self) -> Layout {
        let mut ranges = self.laid_end_to_end();
        for &(node, start, end) in &self.explicit {
            assert!(start < end && (start | end) % 4096 == 0, "bad range {start:#x}..{end:#x}");
            ranges.push(NodeRange { frames: PfnRange::new(start >> 12, end >> 12), node });
        }
        ranges.sort_by_key(|range| range.frames.start);
        ranges.dedup_by(|next, range| {
            let joined = range.node == next.node && range.frames.end == next.frames.start;
            if joined {
                range.frames.end = next.frames.end;
            }
            joined
        });
        for pair in ranges.windows(2) {
            assert!(pair[0].frames.end <= pair[1].frames.start, "{pair:?} overlap");
        }
        let bytes = ranges.iter().map(|range| range.frames.len() << 12).sum::<u64>();
        assert!(bytes > 0, "a machine needs memory");
        assert!(
            self.untouched || bytes <= FILL_LIMIT,
            "{bytes} bytes are too many to fill with 0xA5: say untouched()"
        );
        let nodes = usize::from(self.nodes);
        let distances = self.distances.unwrap_or_else(|| {
            let mut distances = vec![20; nodes * nodes];
            distances.iter_mut().step_by(nodes + 1).for_each(|own| *own = 10);
            distances
        });
        assert_eq!(distances.len(), nodes * nodes, "one distance for each pair of nodes");
        let mut cpus = self.cpus;
        if cpus.is_empty() {
            cpus.push(Cpu { apic: ApicId(0), node: NodeId(0) });
        }
        Layout { ranges, cpus, nodes: self.nodes, distances, fill: !self.untouched }
    }

    /// Where the nodes' sizes lie, split at the holes.
    fn laid_end_to_end(&self) -> Vec<NodeRange> {
        let total = self.sizes.iter().map(|&(_, bytes)| bytes).sum::<u64>();
        let moved = self.pc_holes && total >= HOLE_FROM;
        let mut ranges = Vec::new();
        let mut add = |node, start: u64, end: u64| {
            if start < end {
                ranges.push(NodeRange { frames: PfnRange::new(start >> 12, end >> 12), node });
            }
        };
        let mut at = 0;
        for &(node, bytes) in &self.sizes {
            assert!(bytes % 4096 == 0, "node {node}: {bytes} bytes are no whole frames");
            let end = at + bytes;
            let low = if moved { LOW_RAM_END } else { u64::MAX };
            if self.pc_holes {
                add(node, at, end.min(0x9f000));
                add(node, at.max(MIB), end.min(low));
            } else {
                add(node, at, end);
            }
            if moved {
                add(node, at.max(low) - low + 4096 * MIB, end.max(low) - low + 4096 * MIB);
            }
            at = end;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(builder: SimBuilder) -> Vec<(u16, u64, u64)> {
        let ranges = builder.untouched().layout().ranges;
        ranges
            .iter()
            .map(|range| (range.node.0, range.frames.start.0, range.frames.end.0))
            .collect()
    }

    #[test]
    fn nodes_lie_end_to_end_without_holes() {
        let builder = SimBuilder::default().node(2 * MIB, 1).node(0, 1).node(MIB, 0);
        assert_eq!(frames(builder), [(0, 0, 512), (2, 512, 768)]);
    }

    #[test]
    fn a_pc_has_its_holes() {
        let builder = SimBuilder::default().node(1024 * MIB, 1).node(2048 * MIB, 1).pc_holes();
        assert_eq!(
            frames(builder),
            [(0, 0, 0x9f), (0, 0x100, 0x40000), (1, 0x40000, 0x80000), (1, 0x100000, 0x140000)]
        );
    }

    #[test]
    #[should_panic(expected = "untouched")]
    fn a_machine_too_large_to_fill_is_refused() {
        SimBuilder::default().node(FILL_LIMIT + 4096, 1).build();
    }
}
