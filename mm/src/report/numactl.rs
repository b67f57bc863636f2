//! `numactl --hardware`, as numactl 2.0.16 prints it (reference: formats, section 9).

use core::fmt::{Result, Write};

use super::figures::{NodeMemory, mib};
use crate::ids::{CpuId, NodeId, NodeSet};
use crate::topology::NodeMap;

/// Writes the machine: online nodes, their CPUs and memory, and the distances between them.
///
/// `size` is what the zones manage, as in today's MemTotal; MB are 2^20 bytes, rounded down.
pub fn write(
    out: &mut dyn Write,
    map: &NodeMap<'_>,
    memory: impl Fn(NodeId) -> NodeMemory,
) -> Result {
    nodes(out, map.online(), |node| map.cpus_of(node), &memory)?;
    distances(out, map.online(), &|from, to| map.distance(from, to))
}

fn nodes<C: Iterator<Item = CpuId>>(
    out: &mut dyn Write,
    online: &NodeSet,
    cpus: impl Fn(NodeId) -> C,
    memory: &dyn Fn(NodeId) -> NodeMemory,
) -> Result {
    writeln!(out, "available: {} nodes ({online})", online.len())?;
    for node in online.iter() {
        write!(out, "node {node} cpus:")?;
        for cpu in cpus(node) {
            write!(out, " {cpu}")?;
        }
        let figures = memory(node);
        writeln!(out)?;
        writeln!(out, "node {node} size: {} MB", mib(figures.managed))?;
        writeln!(out, "node {node} free: {} MB", mib(figures.free))?;
    }
    Ok(())
}

/// The matrix alone. Rows are `from`, columns `to`.
pub fn distances(
    out: &mut dyn Write,
    online: &NodeSet,
    distance: &dyn Fn(NodeId, NodeId) -> u8,
) -> Result {
    writeln!(out, "node distances:")?;
    write!(out, "node ")?;
    for to in online.iter() {
        write!(out, " {to:>2} ")?;
    }
    writeln!(out)?;
    for from in online.iter() {
        write!(out, " {from:>2}: ")?;
        for to in online.iter() {
            write!(out, " {:>2} ", distance(from, to))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    /// `cpus` has the nodes of each CPU.
    fn print(online: &NodeSet, cpus: &[&[u16]], memory: &[(u64, u64)]) -> String {
        let mut out = String::new();
        let figures = |node: NodeId| {
            let (managed, free) = memory[node.index()];
            NodeMemory { present: managed, managed, free }
        };
        let of = |node: NodeId| {
            let here = move |(_, nodes): &(CpuId, &&[u16])| nodes.contains(&node.0);
            (0..).map(CpuId).zip(cpus).filter(here).map(|(cpu, _)| cpu)
        };
        nodes(&mut out, online, of, &figures).unwrap();
        let far = |from, to| if from == to { 10 } else { 20 };
        distances(&mut out, online, &far).unwrap();
        out
    }

    #[test]
    fn two_nodes_print_as_numactl_2_0_16_does() {
        let online = [0, 1].map(NodeId).into_iter().collect();
        let cpus = [&[0][..], &[1], &[0], &[1]];
        // One frame short of 488 MB is 487 MB.
        let text = print(&online, &cpus, &[(488 * 256 - 1, 455 * 256), (503 * 256, 491 * 256 + 9)]);
        assert_eq!(
            text,
            "available: 2 nodes (0-1)\n\
             node 0 cpus: 0 2\n\
             node 0 size: 487 MB\n\
             node 0 free: 455 MB\n\
             node 1 cpus: 1 3\n\
             node 1 size: 503 MB\n\
             node 1 free: 491 MB\n\
             node distances:\n\
             node   0   1 \n\
             \x20 0:  10  20 \n\
             \x20 1:  20  10 \n"
        );
    }

    #[test]
    fn a_cpuless_node_has_an_empty_list_and_gaps_between_ids_show() {
        let online = [0, 1, 3].map(NodeId).into_iter().collect();
        let text = print(&online, &[&[0]], &[(0, 0), (256, 0), (0, 0), (512, 256)]);
        assert!(text.starts_with("available: 3 nodes (0-1,3)\nnode 0 cpus: 0\n"), "{text}");
        assert!(text.contains("node 3 cpus:\nnode 3 size: 2 MB\nnode 3 free: 1 MB\n"), "{text}");
    }

    #[test]
    fn a_cpu_on_two_nodes_is_in_both_lists() {
        let online = [0, 1].map(NodeId).into_iter().collect();
        let text = print(&online, &[&[0, 1], &[0, 1]], &[(256, 0), (256, 0)]);
        assert!(
            text.contains("node 0 cpus: 0 1\n") && text.contains("node 1 cpus: 0 1\n"),
            "{text}"
        );
    }

    #[test]
    fn three_digits_widen_their_column() {
        let online = [9, 100].map(NodeId).into_iter().collect();
        let mut out = String::new();
        distances(&mut out, &online, &|from, to| if from == to { 10 } else { 255 }).unwrap();
        assert_eq!(
            out,
            "node distances:\n\
             node   9  100 \n\
             \x20 9:  10  255 \n \
             100:  255  10 \n"
        );
    }
}
