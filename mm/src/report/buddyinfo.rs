//! `/proc/buddyinfo`: free blocks of each order (reference: formats, section 4).

use core::fmt::{Result, Write};

use super::collect;
use crate::alloc::MemorySubsystem;
use crate::platform::Platform;
use crate::units::Order;
use crate::zone::ZoneId;

/// All populated zones, by node.
pub fn write_all<P: Platform>(out: &mut dyn Write, memory: &MemorySubsystem<'_, P>) -> Result {
    let mut zones = memory.zones().iter().filter_map(|zone| collect::zone(memory, zone.id()));
    zones.try_for_each(|zone| write(out, zone.id, &zone.blocks))
}

/// One populated zone: its free blocks of orders 0 to 10. Frames in pagesets are in no block.
pub fn write(out: &mut dyn Write, zone: ZoneId, blocks: &[u64; Order::COUNT]) -> Result {
    write!(out, "Node {}, zone {:>8} ", zone.node, zone.kind)?;
    for count in blocks {
        write!(out, "{count:>6} ")?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::zone::ZoneKind;
    use std::string::String;

    #[test]
    fn columns_are_six_wide_with_a_blank_behind_each() {
        let mut out = String::new();
        let zone = |node, kind| ZoneId { node: NodeId(node), kind };
        write(&mut out, zone(0, ZoneKind::Dma), &[1, 0, 0, 1, 2, 1, 1, 0, 1, 1, 3]).unwrap();
        write(&mut out, zone(1, ZoneKind::Normal), &[9, 7, 6, 3, 4, 2, 1, 1, 2, 0, 1234567])
            .unwrap();
        assert_eq!(
            out,
            "Node 0, zone      DMA      1      0      0      1      2      1      1      0      \
             1      1      3 \n\
             Node 1, zone   Normal      9      7      6      3      4      2      1      1      \
             2      0 1234567 \n"
        );
    }
}
