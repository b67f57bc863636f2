//! What an SRAT says by the plainest reading of the rules: node ids, CPUs, blocks and whether the
//! table is refused (reference: numa-discovery, sections 2 to 6).

use std::collections::{BTreeMap, BTreeSet};

use nearmem::firmware::cedt::{self, Cedt};
use nearmem::firmware::srat::{Body, CpuAffinity, Srat};
use nearmem::ids::MAX_NODES;
use nearmem::topology::{Inputs, NumaOption};
use nearmem::{ApicId, NodeId, PhysAddr, PhysRange};

/// What was read.
#[derive(Default, Debug)]
pub struct Seen {
    /// Records of all sorts.
    pub records: usize,
    /// Domains by node id; those of CXL windows come last.
    pub domains: Vec<u32>,
    /// How many of them the SRAT names.
    pub named: usize,
    /// The node of each CPU with an enabled record.
    pub cpus: BTreeMap<ApicId, NodeId>,
    /// Nodes with a generic initiator.
    pub initiators: BTreeSet<NodeId>,
    /// Ranges that have memory, cut at its end, in table order.
    pub blocks: Vec<(PhysRange, NodeId)>,
    /// The same, ascending, joined over what lies between two of one node.
    pub hulls: Vec<(PhysRange, NodeId)>,
    /// Usable bytes in no hull.
    pub uncovered: u64,
    /// Whether the table counts; if not, one node has everything.
    pub accepted: bool,
}

impl Seen {
    /// Reads the table of `inputs`.
    pub fn of(inputs: &Inputs<'_>) -> Seen {
        let mut seen = Seen::default();
        let on = inputs.numa == NumaOption::On;
        let table = inputs.srat.filter(|_| on).and_then(|bytes| Srat::parse(bytes, &mut |_| ()));
        let Some(table) = table else { return seen };
        let bodies: Vec<_> = table.entries().map(|entry| entry.body).collect();
        seen.records = bodies.len();
        let bad = bodies.iter().any(|body| matches!(body, Body::BadLength { .. }));
        for body in &bodies {
            match *body {
                Body::Cpu(CpuAffinity { apic, pxm, enabled: true, x2apic, .. })
                    if !x2apic || apic.0 <= inputs.max_apic_id =>
                {
                    if let Some(node) = seen.node(pxm.0) {
                        seen.cpus.insert(apic, node);
                    }
                }
                Body::Initiator(initiator) if initiator.enabled => {
                    let node = seen.node(initiator.pxm.0);
                    seen.initiators.extend(node);
                }
                _ => {}
            }
        }
        if bad {
            return seen;
        }
        for body in &bodies {
            let Body::Memory(memory) = *body else { continue };
            if !memory.enabled {
                continue;
            }
            let node = seen.node(memory.pxm.0);
            let Some((range, node)) = memory.range().zip(node) else { continue };
            if !range.is_empty() {
                seen.blocks.push((range, node));
            }
        }
        seen.named = seen.domains.len();
        seen.windows(inputs.cedt.unwrap_or_default());
        let touches = |range: PhysRange| {
            inputs.memory.usable().iter().any(|usable| usable.bytes().overlaps(range))
        };
        seen.blocks.retain(|&(range, _)| touches(range));
        for (range, _) in &mut seen.blocks {
            range.end = range.end.min(inputs.memory.end());
        }
        seen.deal(inputs);
        seen
    }

    /// Each window that shares no byte with what is there already is the next domain.
    fn windows(&mut self, cedt: &[u8]) {
        let highest = self.domains.iter().max().map_or(0, |&pxm| u64::from(pxm) + 1);
        let mut next = highest;
        let cedt = Cedt::parse(cedt, &mut |_| ());
        for entry in cedt.iter().flat_map(Cedt::entries) {
            let cedt::Body::Window(window) = entry.body else { continue };
            let range = window.range();
            let shown = range.unwrap_or(PhysRange::new(window.base, window.base.saturating_add(1)));
            if self.blocks.iter().any(|(block, _)| block.overlaps(shown)) {
                continue;
            }
            let node = u32::try_from(next).ok().and_then(|pxm| self.node(pxm));
            next += u64::from(node.is_some());
            self.blocks.extend(range.zip(node));
        }
    }

    fn node(&mut self, pxm: u32) -> Option<NodeId> {
        let known = self.domains.iter().position(|&domain| domain == pxm);
        let place = known.unwrap_or(self.domains.len());
        if known.is_none() && place < MAX_NODES {
            self.domains.push(pxm);
        }
        (place < MAX_NODES).then_some(NodeId(place as u16))
    }

    fn deal(&mut self, inputs: &Inputs<'_>) {
        let mut blocks = self.blocks.clone();
        blocks.sort_by_key(|(range, _)| range.start);
        for &(range, node) in &blocks {
            let others = blocks.iter().filter(|(_, other)| *other != node);
            if others.clone().any(|(other, _)| other.overlaps(range)) {
                return;
            }
            match self.hulls.last_mut() {
                Some((hull, last)) if *last == node => hull.end = hull.end.max(range.end),
                _ => self.hulls.push((range, node)),
            }
        }
        let usable = inputs.memory.usable().iter().map(|frames| frames.bytes());
        let parts = usable
            .clone()
            .flat_map(|usable| self.hulls.iter().map(move |(hull, _)| hull.intersect(usable)));
        let covered: u64 = parts.clone().map(PhysRange::len).sum();
        let frames: u64 = parts.map(|part| part.whole_frames().len()).sum();
        self.uncovered = usable.map(PhysRange::len).sum::<u64>() - covered;
        self.accepted = self.uncovered < 1 << 20 && frames > 0;
    }

    /// The node that has all of a frame, if one has.
    pub fn owner(&self, frame: u64) -> Option<NodeId> {
        let bytes = PhysRange { start: PhysAddr(frame << 12), end: PhysAddr((frame + 1) << 12) };
        let whole = |hull: &PhysRange| hull.intersect(bytes).len() == bytes.len();
        self.hulls.iter().find(|(hull, _)| whole(hull)).map(|&(_, node)| node)
    }
}
