//! A node map made by hand, without firmware tables.

use super::fake::Parts;
use super::storage::Storage;
use super::{Cpu, NodeMap, NodeRange, Source, distances};
use crate::ids::{MAX_NODES, NodeId, NodeSet};
use crate::units::PfnRange;

impl<'m> NodeMap<'m> {
    /// A map made by hand, for tests and for platforms without ACPI.
    ///
    /// `ranges` may come in any order and must not overlap; empty ones are skipped, and touching
    /// ones of one node are joined. Nodes are possible and online from 0 to the highest one that
    /// `ranges` or `cpus` name. `distance` says how far its second node is from its first.
    /// [`NodeMap::source`] says [`Source::None`], and no node has a domain.
    ///
    /// What does not fit into `storage` is left out; room for as many ranges, CPUs and
    /// nodes * nodes distances as are given is enough.
    ///
    /// ```
    /// use nearmem::topology::{Cpu, HeapRoom, NodeMap, NodeRange, StorageNeeds};
    /// use nearmem::{ApicId, NodeId, Pfn, PfnRange};
    ///
    /// let ranges = [
    ///     NodeRange { frames: PfnRange::new(0x100, 0x20000), node: NodeId(0) },
    ///     NodeRange { frames: PfnRange::new(0x20000, 0x40000), node: NodeId(1) },
    /// ];
    /// let cpus = [Cpu { apic: ApicId(0), node: NodeId(0) }];
    /// let needs = StorageNeeds { nodes: 2, ranges: 2, cpus: 1, ..StorageNeeds::default() };
    /// let mut room = HeapRoom::new(needs);
    /// let far = |from, to| if from == to { 10 } else { 20 };
    /// let map = NodeMap::from_parts(&ranges, &cpus, far, room.storage());
    /// assert_eq!(map.node_of(Pfn(0x20000)), Some(NodeId(1)));
    /// assert_eq!(map.distance(NodeId(0), NodeId(1)), 20);
    /// ```
    pub fn from_parts(
        ranges: &[NodeRange],
        cpus: &[Cpu],
        distance: impl Fn(NodeId, NodeId) -> u8,
        storage: Storage<'m>,
    ) -> NodeMap<'m> {
        let named = |node: NodeId| node.index() < MAX_NODES;
        let ranges = sort_and_join(ranges.iter().filter(|r| named(r.node)), storage.ranges);
        let mut count = 0;
        for (slot, &cpu) in storage.cpus.iter_mut().zip(cpus) {
            *slot = cpu;
            count += 1;
        }
        let cpus: &[Cpu] = storage.cpus.get(..count).unwrap_or_default();

        let with_memory: NodeSet = ranges.iter().map(|range| range.node).collect();
        let with_cpus: NodeSet = cpus.iter().map(|cpu| cpu.node).collect();
        let last = with_memory.iter().chain(with_cpus.iter()).max().unwrap_or_default();
        let all: NodeSet = (0..=last.0).map(NodeId).collect();
        let nodes = last.index() + 1;
        NodeMap {
            source: Source::None,
            possible: all,
            online: all,
            with_memory,
            with_cpus,
            initiators: NodeSet::EMPTY,
            ranges,
            cpus,
            distances: distances::fill(storage.distances, nodes, distance),
            domains: &[],
            records: &[],
            blocks: &[],
            parts: Parts::default(),
            by_srat: false,
            uncovered: 0,
        }
    }
}

/// Copies ranges into `room`, ascending, touching ones of one node as one.
fn sort_and_join<'a, 'm>(
    ranges: impl Iterator<Item = &'a NodeRange>,
    room: &'m mut [NodeRange],
) -> &'m [NodeRange] {
    let mut count = 0;
    let given = ranges.filter(|range| !range.frames.is_empty());
    for (slot, &range) in room.iter_mut().zip(given) {
        *slot = range;
        count += 1;
    }
    let used = room.get_mut(..count).unwrap_or_default();
    used.sort_unstable_by_key(|range| range.frames.start);
    let mut last = 0;
    for at in 1..used.len() {
        let (before, next) = (used[last], used[at]);
        if before.node == next.node && before.frames.end == next.frames.start {
            used[last].frames = PfnRange { end: next.frames.end, ..before.frames };
        } else {
            last += 1;
            used[last] = next;
        }
    }
    let joined = (last + 1).min(used.len());
    used.get(..joined).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::storage::{HeapRoom, StorageNeeds};
    use super::*;
    use crate::ids::ApicId;
    use crate::units::Pfn;

    fn range(start: u64, end: u64, node: u16) -> NodeRange {
        NodeRange { frames: PfnRange::new(start, end), node: NodeId(node) }
    }

    #[test]
    fn every_accessor_answers() {
        let ranges = [range(40, 50, 2), range(10, 20, 0), range(20, 30, 0), range(30, 40, 2)];
        let cpus =
            [Cpu { apic: ApicId(0), node: NodeId(1) }, Cpu { apic: ApicId(9), node: NodeId(0) }];
        let needs = StorageNeeds { nodes: 3, ranges: 4, cpus: 2, ..StorageNeeds::default() };
        let mut room = HeapRoom::new(needs);
        let far = |from: NodeId, to: NodeId| 10 + 7 * from.0.abs_diff(to.0) as u8;
        let map = NodeMap::from_parts(&ranges, &cpus, far, room.storage());

        assert_eq!(map.ranges(), [range(10, 30, 0), range(30, 50, 2)]);
        assert_eq!(
            map.node_ranges(NodeId(2)).collect::<std::vec::Vec<_>>(),
            [PfnRange::new(30, 50)]
        );
        for (pfn, node) in [(9, None), (10, Some(0)), (29, Some(0)), (30, Some(2)), (50, None)] {
            assert_eq!(map.node_of(Pfn(pfn)), node.map(NodeId), "frame {pfn}");
        }
        assert_eq!(std::format!("{}", map.online()), "0-2");
        assert_eq!(std::format!("{} {}", map.with_memory(), map.with_cpus()), "0,2 0-1");
        assert_eq!(map.node_of_cpu(crate::CpuId(0)), NodeId(1));
        assert_eq!(map.node_of_cpu(crate::CpuId(7)), NodeId(0));
        assert_eq!(map.distance(NodeId(0), NodeId(2)), 24);
        assert_eq!(map.distance(NodeId(3), NodeId(3)), 10);
        assert_eq!(map.distance(NodeId(0), NodeId(3)), 20);
        assert_eq!((map.source(), map.pxm(NodeId(0))), (Source::None, None));
    }

    #[test]
    fn too_little_storage_keeps_what_fits() {
        let map = NodeMap::from_parts(&[range(1, 2, 5)], &[], |_, _| 77, Storage::default());
        assert!(map.ranges().is_empty());
        assert_eq!(map.distance(NodeId(0), NodeId(0)), 10);
    }
}
