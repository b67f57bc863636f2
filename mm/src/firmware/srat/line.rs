//! The log lines of records, as Linux prints them (reference: formats, section 8).

use core::fmt;

use super::{Body, Entry, InitiatorAffinity};
use crate::ids::NodeId;
use crate::units::{PhysAddr, PhysRange};

impl Entry {
    /// Whether Linux logs it and a node map counts with it: a readable, enabled record.
    pub fn is_enabled(&self) -> bool {
        match self.body {
            Body::Cpu(cpu) => cpu.enabled,
            Body::Memory(memory) => memory.enabled,
            Body::Initiator(initiator) => initiator.enabled,
            _ => false,
        }
    }

    /// The log line of this record: `SRAT: PXM 0 -> APIC 0x00 -> Node 0`, or
    /// `ACPI: SRAT: Node 0 PXM 0 [mem 0x00000000-0x0009ffff] hotplug`. Without a node, `Node -`.
    /// For what Linux has no line, the type and length are printed.
    pub fn line(&self, node: Option<NodeId>) -> impl fmt::Display {
        let body = self.body;
        fmt::from_fn(move |f| write(f, &body, node))
    }
}

fn write(f: &mut fmt::Formatter<'_>, body: &Body, node: Option<NodeId>) -> fmt::Result {
    let node = fmt::from_fn(|f| match node {
        Some(node) => write!(f, "{node}"),
        None => f.write_str("-"),
    });
    match *body {
        Body::Cpu(cpu) => {
            let (pxm, apic) = (cpu.pxm, cpu.apic.0);
            let width = if cpu.x2apic { 6 } else { 4 };
            write!(f, "SRAT: PXM {pxm} -> APIC {apic:#0width$x} -> Node {node}")
        }
        Body::Memory(memory) => {
            // A range that wraps is shown as far as it is one.
            let end = PhysAddr(memory.base.saturating_add(memory.length));
            let range = PhysRange { start: PhysAddr(memory.base), end };
            write!(f, "ACPI: SRAT: Node {node} PXM {} {range}", memory.pxm)?;
            f.write_str(if memory.hotplug { " hotplug" } else { "" })?;
            f.write_str(if memory.nonvolatile { " non-volatile" } else { "" })
        }
        Body::Initiator(InitiatorAffinity { pxm, handle, .. }) => {
            write!(f, "SRAT: PXM {pxm} -> generic initiator {handle} -> Node {node}")
        }
        Body::Other { named: Some(named), .. } => {
            let state = if named.is_enabled() { "" } else { " (disabled)" };
            write!(f, "SRAT: PXM {} -> {named}{state}", named.pxm())
        }
        Body::Other { kind, length, .. } | Body::BadLength { kind, length } => {
            write!(f, "SRAT: type {kind}, length {length}")
        }
        Body::Truncated { present } => write!(f, "SRAT: {present} bytes of a record"),
    }
}
