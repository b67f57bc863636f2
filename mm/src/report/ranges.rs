//! The boot log's account of the memory map by zone and by node (reference: formats, section 8).

use core::fmt::{Display, Formatter, Result, Write};

use crate::ids::NodeSet;
use crate::topology::{NodeMap, NodeRange};
use crate::units::PfnRange;
use crate::zone::ZoneKind;

/// Writes `Zone ranges:`, `Early memory node ranges` and a line of set-up for every possible node.
///
/// There is no zone Movable, so Linux's line about its starts is left out.
pub fn write(out: &mut dyn Write, map: &NodeMap<'_>) -> Result {
    zone_ranges(out, map.ranges())?;
    node_ranges(out, map.ranges())?;
    node_set_up(out, map.possible(), map.ranges())
}

/// `Zone ranges:`: what each kind of zone may have on the whole machine. The lowest begins at the
/// lowest frame of RAM, the highest ends with RAM.
fn zone_ranges(out: &mut dyn Write, ranges: &[NodeRange]) -> Result {
    let ram = hull(ranges.iter().map(|range| range.frames));
    writeln!(out, "Zone ranges:")?;
    for kind in ZoneKind::ALL {
        let name = kind.name();
        match kind.frames().intersect(ram) {
            frames if frames.is_empty() => writeln!(out, "  {name:<8} empty")?,
            frames => writeln!(out, "  {name:<8} {}", Mem(frames))?,
        }
    }
    Ok(())
}

fn node_ranges(out: &mut dyn Write, ranges: &[NodeRange]) -> Result {
    writeln!(out, "Early memory node ranges")?;
    ranges
        .iter()
        .try_for_each(|range| writeln!(out, "  node {:>3}: {}", range.node, Mem(range.frames)))
}

fn node_set_up(out: &mut dyn Write, possible: &NodeSet, ranges: &[NodeRange]) -> Result {
    for node in possible.iter() {
        let of_node = ranges.iter().filter(|range| range.node == node).map(|range| range.frames);
        match hull(of_node) {
            frames if frames.is_empty() => {
                writeln!(out, "Initializing node {node} as memoryless")?;
                writeln!(out, "Initmem setup node {node} as memoryless")?;
            }
            frames => writeln!(out, "Initmem setup node {node} {}", Mem(frames))?,
        }
    }
    Ok(())
}

/// From the lowest frame to the highest.
fn hull(ranges: impl Iterator<Item = PfnRange>) -> PfnRange {
    ranges
        .filter(|range| !range.is_empty())
        .reduce(|all, range| PfnRange {
            start: all.start.min(range.start),
            end: all.end.max(range.end),
        })
        .unwrap_or_default()
}

/// Frames as this part of the log prints them: 16 digits, the end inclusive. Not empty.
struct Mem(PfnRange);

impl Display for Mem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let bytes = self.0.bytes();
        write!(f, "[mem {:#018x}-{:#018x}]", bytes.start.0, bytes.end.0.wrapping_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use std::string::String;

    fn range(node: u16, start: u64, end: u64) -> NodeRange {
        NodeRange { frames: PfnRange::new(start, end), node: NodeId(node) }
    }

    #[test]
    fn a_machine_of_1_gib_with_two_nodes() {
        let ranges = [range(0, 1, 0x9f), range(0, 0x100, 0x20000), range(1, 0x20000, 0x3ffe0)];
        let possible = [0, 1].map(NodeId).into_iter().collect();
        let mut out = String::new();
        zone_ranges(&mut out, &ranges).unwrap();
        node_ranges(&mut out, &ranges).unwrap();
        node_set_up(&mut out, &possible, &ranges).unwrap();
        assert_eq!(
            out,
            "Zone ranges:\n\
             \x20 DMA      [mem 0x0000000000001000-0x0000000000ffffff]\n\
             \x20 DMA32    [mem 0x0000000001000000-0x000000003ffdffff]\n\
             \x20 Normal   empty\n\
             Early memory node ranges\n\
             \x20 node   0: [mem 0x0000000000001000-0x000000000009efff]\n\
             \x20 node   0: [mem 0x0000000000100000-0x000000001fffffff]\n\
             \x20 node   1: [mem 0x0000000020000000-0x000000003ffdffff]\n\
             Initmem setup node 0 [mem 0x0000000000001000-0x000000001fffffff]\n\
             Initmem setup node 1 [mem 0x0000000020000000-0x000000003ffdffff]\n"
        );
    }

    #[test]
    fn a_node_without_memory_is_said_to_be_memoryless() {
        let possible = [0, 1].map(NodeId).into_iter().collect();
        let mut out = String::new();
        node_set_up(&mut out, &possible, &[range(0, 0x100000, 0x140000)]).unwrap();
        assert_eq!(
            out,
            "Initmem setup node 0 [mem 0x0000000100000000-0x000000013fffffff]\n\
             Initializing node 1 as memoryless\n\
             Initmem setup node 1 as memoryless\n"
        );
    }

    #[test]
    fn ram_above_4_gib_alone_leaves_the_lower_zones_empty() {
        let mut out = String::new();
        zone_ranges(&mut out, &[range(0, 0x100000, 0x180000)]).unwrap();
        assert_eq!(
            out,
            "Zone ranges:\n  DMA      empty\n  DMA32    empty\n  \
             Normal   [mem 0x0000000100000000-0x000000017fffffff]\n"
        );
    }

    #[test]
    fn no_memory_at_all_is_three_empty_zones() {
        let mut out = String::new();
        zone_ranges(&mut out, &[]).unwrap();
        assert_eq!(out, "Zone ranges:\n  DMA      empty\n  DMA32    empty\n  Normal   empty\n");
    }
}
