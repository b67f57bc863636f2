//! How memory and CPUs are dealt to nodes, and which machines cannot be.

use std::ops::Range;

use anyhow::Result;

use super::size::{KIB, MIB, TIB, show};
use crate::fault::bad_machine;

/// QEMU's limit (`MAX_NODES`).
pub const MAX_NODES: u32 = 128;
/// QEMU's limit without KVM's interrupt controller: APIC ids of 8 bits.
pub const MAX_CPUS: u32 = 255;
/// The least memory of a node in bytes.
pub const MIN_NODE: u64 = MIB;
/// The least memory of a machine in bytes: below it neither kernel nor tables fit.
pub const MIN_MEMORY: u64 = 32 * MIB;
/// The most memory of a machine in bytes: what 46 bits of physical address can name, which is
/// what the kernel's direct map holds, too.
pub const MAX_MEMORY: u64 = 64 * TIB;
/// QEMU rounds memory up to this many bytes.
const GRANULE: u64 = 8 * KIB;

/// One node of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its memory in bytes, a multiple of 8 KiB; 0 for a node without memory.
    pub memory: u64,
    /// Its CPUs, by QEMU's number; may be empty.
    pub cpus: Range<u32>,
}

/// Deals memory (bytes) and CPUs to nodes.
///
/// Every node gets the same memory where that is possible in units of 8 KiB; otherwise a whole
/// number of MiB, and the last node the rest. CPUs go to nodes in blocks: the first nodes have
/// one more where they do not come out even, and the last have none when there are fewer CPUs
/// than nodes.
///
/// # Errors
/// [`crate::fault::BadMachine`] for a machine that cannot be.
pub fn spread(nodes: u32, memory: u64, cpus: u32) -> Result<Vec<NodeSpec>> {
    let memory = memory.checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX);
    check(nodes, memory, cpus)?;
    let count = u64::from(nodes);
    let each = match memory.is_multiple_of(count * GRANULE) {
        true => memory / count,
        false => memory / count / MIB * MIB,
    };
    let mut next = 0;
    Ok((0..nodes)
        .map(|node| {
            let start = next;
            next += cpus / nodes + u32::from(node < cpus % nodes);
            let memory = if node + 1 < nodes { each } else { memory - each * (count - 1) };
            NodeSpec { memory, cpus: start..next }
        })
        .collect())
}

/// Says what is wrong with a machine of so many nodes, bytes and CPUs.
///
/// # Errors
/// [`crate::fault::BadMachine`]: one of them is out of range.
pub fn check(nodes: u32, memory: u64, cpus: u32) -> Result<()> {
    if nodes == 0 || nodes > MAX_NODES {
        return Err(bad_machine(format!("{nodes} nodes: a machine has 1 to {MAX_NODES}")));
    }
    if cpus == 0 || cpus > MAX_CPUS {
        return Err(bad_machine(format!("{cpus} CPUs: a machine has 1 to {MAX_CPUS}")));
    }
    if memory < MIN_MEMORY {
        return Err(bad_machine(format!(
            "{} of memory are too little: a machine needs {}",
            show(memory),
            show(MIN_MEMORY)
        )));
    }
    if memory >= MAX_MEMORY {
        return Err(bad_machine(format!(
            "{} of memory are too much: a machine has less than {}",
            show(memory),
            show(MAX_MEMORY)
        )));
    }
    if memory / u64::from(nodes) < MIN_NODE {
        return Err(bad_machine(format!(
            "{} of memory are too little for {nodes} nodes: each needs {}",
            show(memory),
            show(MIN_NODE)
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::size::GIB;

    fn dealt(nodes: u32, memory: u64, cpus: u32) -> Vec<(u64, Range<u32>)> {
        let nodes = spread(nodes, memory, cpus).unwrap();
        nodes.into_iter().map(|node| (node.memory, node.cpus)).collect()
    }

    #[test]
    fn even() {
        assert_eq!(dealt(2, 2 * GIB, 4), [(GIB, 0..2), (GIB, 2..4)],);
    }

    #[test]
    fn three_cpus_on_four_nodes() {
        let cpus: Vec<_> = dealt(4, 2 * GIB, 3).into_iter().map(|(_, cpus)| cpus).collect();
        assert_eq!(cpus, [0..1, 1..2, 2..3, 3..3]);
    }

    #[test]
    fn five_cpus_on_three_nodes() {
        let cpus: Vec<_> = dealt(3, 3 * GIB, 5).into_iter().map(|(_, cpus)| cpus).collect();
        assert_eq!(cpus, [0..2, 2..4, 4..5]);
    }

    #[test]
    fn the_last_node_has_the_rest() {
        let memory: Vec<_> = dealt(3, 2 * GIB, 1).into_iter().map(|(memory, _)| memory).collect();
        assert_eq!(memory, [682 * MIB, 682 * MIB, 684 * MIB]);
    }

    #[test]
    fn the_seed_box_by_its_sum() {
        let nodes = dealt(8, 26621 * MIB, 2);
        assert!(nodes.iter().all(|(memory, _)| *memory == 3_407_488 * KIB));
    }

    #[test]
    fn memory_is_rounded_up_to_what_qemu_takes() {
        assert_eq!(dealt(1, 64 * MIB + 1, 1)[0].0, 64 * MIB + 8 * KIB);
    }

    #[test]
    fn sums_hold_for_all_counts() {
        for nodes in 1..=MAX_NODES {
            let dealt = dealt(nodes, 2 * GIB + 8 * KIB, 7);
            assert_eq!(dealt.iter().map(|(memory, _)| memory).sum::<u64>(), 2 * GIB + 8 * KIB);
            assert_eq!(dealt.last().unwrap().1.end, 7);
        }
    }

    #[test]
    fn machines_that_cannot_be() {
        for (nodes, memory, cpus, text) in [
            (0, GIB, 1, "0 nodes: a machine has 1 to 128"),
            (129, GIB, 1, "129 nodes: a machine has 1 to 128"),
            (4, GIB, 0, "0 CPUs: a machine has 1 to 255"),
            (4, GIB, 256, "256 CPUs: a machine has 1 to 255"),
            (1, 0, 1, "0 bytes of memory are too little: a machine needs 32M"),
            (1, 16 * MIB, 1, "16M of memory are too little: a machine needs 32M"),
            (1, 64 * TIB, 1, "64T of memory are too much: a machine has less than 64T"),
            (64, 32 * MIB, 1, "32M of memory are too little for 64 nodes: each needs 1M"),
        ] {
            assert_eq!(spread(nodes, memory, cpus).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn the_largest_size_does_not_overflow() {
        let error = spread(128, u64::MAX, 1).unwrap_err().to_string();
        assert!(error.contains("too much"), "{error}");
        assert!(spread(128, 63 * TIB, 1).is_ok());
    }
}
