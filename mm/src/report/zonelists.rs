//! The boot log's lines on the order in which nodes serve (reference: zones-and-zonelists,
//! section 2).

use core::fmt::{Result, Write};

use super::collect;
use crate::alloc::MemorySubsystem;
use crate::ids::NodeId;
use crate::platform::Platform;
use crate::zone::ZoneKind;

/// All lines: a fallback order for every possible node, then the two that sum up.
pub fn write<P: Platform>(out: &mut dyn Write, memory: &MemorySubsystem<'_, P>) -> Result {
    let map = memory.map();
    for node in map.possible().iter() {
        fallback_order(out, node, memory.fallback_order(node))?;
    }
    built(out, map.online().len(), collect::zonelist_pages(memory))?;
    collect::policy_zone(memory).map_or(Ok(()), |zone| policy_zone(out, zone))
}

/// `Fallback order for Node N: `: the nodes in which a request for `node` looks, in this order.
pub fn fallback_order(out: &mut dyn Write, node: NodeId, order: &[NodeId]) -> Result {
    write!(out, "Fallback order for Node {node}: ")?;
    for other in order {
        write!(out, "{other} ")?;
    }
    writeln!(out)
}

/// `Built N zonelists, ...  Total pages: P`: the online nodes, and the frames above the high marks
/// of all zones in the boot node's list. There are no migrate types, so grouping by mobility is off.
pub fn built(out: &mut dyn Write, online: usize, total_pages: u64) -> Result {
    writeln!(out, "Built {online} zonelists, mobility grouping off.  Total pages: {total_pages}")
}

/// `Policy zone: Z`: the highest zone that has frames on any node; policies hold for it.
pub fn policy_zone(out: &mut dyn Write, zone: ZoneKind) -> Result {
    writeln!(out, "Policy zone: {zone}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn lines_are_those_of_linux() {
        let mut out = String::new();
        fallback_order(&mut out, NodeId(0), &[0, 1].map(NodeId)).unwrap();
        fallback_order(&mut out, NodeId(1), &[NodeId(1)]).unwrap();
        built(&mut out, 2, 257760).unwrap();
        policy_zone(&mut out, ZoneKind::Dma32).unwrap();
        assert_eq!(
            out,
            "Fallback order for Node 0: 0 1 \n\
             Fallback order for Node 1: 1 \n\
             Built 2 zonelists, mobility grouping off.  Total pages: 257760\n\
             Policy zone: DMA32\n"
        );
    }
}
