//! What the SRAT's records become: CPUs with a node, blocks of addresses with a node.

use crate::ids::{ApicId, NodeId};
use crate::units::PhysRange;

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
}

impl CpuRecord {
    /// APIC 0 on node 0, to fill storage with.
    pub const NONE: CpuRecord =
        CpuRecord { apic: ApicId(0), node: NodeId(0), offset: 0, record: 0 };
}

/// Addresses that the SRAT gives to a node.
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
    /// Offset of the (first) record in the table, in bytes.
    pub offset: u32,
    /// Number of the (first) record in the table, from 0.
    pub record: u32,
}

impl Block {
    /// No addresses, to fill storage with.
    pub const NONE: Block = Block {
        range: PhysRange::new(0, 0),
        node: NodeId(0),
        hotplug: false,
        nonvolatile: false,
        offset: 0,
        record: 0,
    };
}
