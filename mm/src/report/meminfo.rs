//! A node's meminfo: the rows that apply to this kernel, in the form of 2007 and in today's
//! (reference: formats, section 1).
//!
//! They differ in more than width: MemTotal was all RAM of the node, so boot memory counted as
//! used; today it is what the zones manage, so boot memory shows in no row. The effect of
//! `hashdist` on a node is visible in the form of 2007 only.

use core::fmt::{Result, Write};

use super::figures::{NodeMemory, kb};
use crate::ids::NodeId;

/// The form of kernel 2.6.20: an empty line first, MemTotal = RAM present.
pub fn write_2007(out: &mut dyn Write, node: NodeId, memory: &NodeMemory) -> Result {
    writeln!(out)?;
    for (label, frames) in
        [("MemTotal:", memory.present), ("MemFree:", memory.free), ("MemUsed:", memory.used())]
    {
        writeln!(out, "Node {node} {label:<14}{:>8} kB", kb(frames))?;
    }
    Ok(())
}

/// The form of kernel 6.1: MemTotal = frames managed by the zones.
pub fn write_today(out: &mut dyn Write, node: NodeId, memory: &NodeMemory) -> Result {
    for (label, frames) in [
        ("MemTotal:", memory.managed),
        ("MemFree:", memory.free),
        ("MemUsed:", memory.used_of_managed()),
    ] {
        writeln!(out, "Node {node} {label:<16}{:>8} kB", kb(frames))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    /// Node 0 of the first seed's box, after the change.
    const SEED: NodeMemory =
        NodeMemory { present: 3407488 / 4, managed: 3355000 / 4, free: 3247608 / 4 };

    #[test]
    fn the_rows_of_2007_count_boot_memory_as_used() {
        let mut out = String::new();
        write_2007(&mut out, NodeId(0), &SEED).unwrap();
        assert_eq!(
            out,
            "\n\
             Node 0 MemTotal:      3407488 kB\n\
             Node 0 MemFree:       3247608 kB\n\
             Node 0 MemUsed:        159880 kB\n"
        );
    }

    #[test]
    fn todays_rows_leave_boot_memory_out() {
        let mut out = String::new();
        write_today(&mut out, NodeId(12), &SEED).unwrap();
        assert_eq!(
            out,
            "Node 12 MemTotal:        3355000 kB\n\
             Node 12 MemFree:         3247608 kB\n\
             Node 12 MemUsed:          107392 kB\n"
        );
    }
}
