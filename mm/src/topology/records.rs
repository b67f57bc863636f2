//! What the SRAT's records become: CPUs with a node, blocks of addresses with a node.

use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::{cedt, srat};
use crate::ids::{ApicId, NodeId};
use crate::units::{Pfn, PfnRange, PhysRange};

/// An enabled CPU record of the SRAT.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuRecord {
    /// Which CPU.
    pub apic: ApicId,
    /// Its node.
    pub node: NodeId,
    /// Offset in the table, in bytes.
    pub offset: u32,
    /// Number of the record in the table, from 0.
    pub record: u32,
    /// While CPUs without a record are placed: how many records there are up to the last one of an
    /// online node, among those up to this one by APIC id. 0 when there is none.
    pub(super) up_to_online: u32,
}

impl CpuRecord {
    /// APIC 0 on node 0, to fill storage with.
    pub const NONE: CpuRecord =
        CpuRecord { apic: ApicId(0), node: NodeId(0), offset: 0, record: 0, up_to_online: 0 };

    fn place(&self) -> Place {
        Place::record(srat::SIGNATURE, self.offset, self.record)
    }
}

/// Addresses that the SRAT, or a CXL window of the CEDT, gives to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The addresses, in bytes.
    pub range: PhysRange,
    /// Whose they are.
    pub node: NodeId,
    /// Whether the firmware says that this memory may come and go.
    pub hotplug: bool,
    /// Whether it keeps its content without power.
    pub nonvolatile: bool,
    /// Whether it is a CXL window: its record is in the CEDT.
    pub window: bool,
    /// Offset of the (first) record in the table, in bytes.
    pub offset: u32,
    /// Number of the (first) record in the table, from 0.
    pub record: u32,
    /// The first of those that it is joined with, as [`Block::order`] numbers them, during the
    /// clean-up. Before that, while windows are read: which block reaches furthest so far.
    pub(super) group: u64,
    /// The first frame that is not yet in a fake node, while nodes are split.
    pub(super) left_from: Pfn,
}

impl Block {
    /// No addresses, to fill storage with.
    pub const NONE: Block = Block {
        range: PhysRange::new(0, 0),
        node: NodeId(0),
        hotplug: false,
        nonvolatile: false,
        window: false,
        offset: 0,
        record: 0,
        group: 0,
        left_from: Pfn(0),
    };

    /// Its whole frames that are not yet in a fake node.
    pub(super) fn left(&self) -> PfnRange {
        PfnRange { start: self.left_from, end: self.range.end.pfn() }
    }

    /// The place of its record.
    pub fn place(&self) -> Place {
        let table = if self.window { cedt::SIGNATURE } else { srat::SIGNATURE };
        Place::record(table, self.offset, self.record)
    }

    /// Its place among all blocks, in the order in which they were read.
    pub(super) fn order(&self) -> u64 {
        u64::from(self.window) << 32 | u64::from(self.record)
    }
}

/// Sorts records by APIC id and keeps one for each: the last in table order. Others of the same
/// node are a note, those of another node a warning.
pub fn settle<'m>(
    records: &'m mut [CpuRecord],
    findings: &mut dyn Findings,
) -> &'m mut [CpuRecord] {
    records.sort_unstable_by_key(|record| (record.apic, record.node, record.record));
    let (mut kept, mut start) = (0, 0);
    while let Some(&first) = records.get(start) {
        let same = |record: &&CpuRecord| record.apic == first.apic;
        let group = records.iter().skip(start).take_while(same);
        let last = group.clone().copied().max_by_key(|record| record.record).unwrap_or(first);
        let mut before: Option<NodeId> = None;
        let mut length = 0;
        for record in group {
            report(record, before, last, findings);
            before = Some(record.node);
            length += 1;
        }
        if let Some(slot) = records.get_mut(kept) {
            *slot = last;
        }
        kept += 1;
        start += length;
    }
    records.get_mut(..kept).unwrap_or_default()
}

/// Says what is wrong with one record of a CPU, of which `before` is on the node before it in the
/// order of nodes and `last` is the one that counts.
fn report(
    record: &CpuRecord,
    before: Option<NodeId>,
    last: CpuRecord,
    findings: &mut dyn Findings,
) {
    let apic = record.apic.0;
    if before == Some(record.node) {
        let kind = Kind::SratCpuListedTwice { apic, node: record.node };
        findings.add(Finding::at(record.place(), kind));
    } else if record.node != last.node {
        let kind = Kind::SratCpuConflict { apic, old: record.node, new: last.node };
        findings.add(Finding::at(last.place(), kind));
    }
}
