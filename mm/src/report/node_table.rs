//! A table of our own for the end of a boot: a row a node, in the columns of the 2007 meminfo,
//! with the pages of the hash tables that lie there. It fits 80 columns on any machine.

use core::fmt::{Result, Write};

use super::figures::{NodeMemory, kb};
use crate::ids::{NodeId, NodeSet};

/// The longest bar, in characters: that of the node with the most table pages.
const BAR: u64 = 20;

/// Writes the table: size (RAM present), used and free in kB, and pages of hash tables, with a bar
/// beside them. The last row has the sums.
pub fn write(
    out: &mut dyn Write,
    nodes: &NodeSet,
    memory: impl Fn(NodeId) -> NodeMemory,
    table_pages: impl Fn(NodeId) -> u64,
) -> Result {
    let most = nodes.iter().map(&table_pages).max().unwrap_or(0);
    let mut all = NodeMemory::default();
    let mut all_pages = 0u64;
    writeln!(
        out,
        "{:>4} {:>12} {:>12} {:>12} {:>11}",
        "node", "size kB", "used kB", "free kB", "hash pages"
    )?;
    for node in nodes.iter() {
        let (figures, pages) = (memory(node), table_pages(node));
        row(out, node, &figures, pages)?;
        // Rounded up, so that a node with few pages differs from one with none.
        let length =
            pages.saturating_mul(BAR).checked_div(most).unwrap_or(0).max((pages > 0).into());
        if length > 0 {
            write!(out, "  {:#<1$}", "", length as usize)?;
        }
        writeln!(out)?;
        all = all.plus(figures);
        all_pages = all_pages.saturating_add(pages);
    }
    row(out, "all", &all, all_pages)?;
    writeln!(out)
}

fn row(
    out: &mut dyn Write,
    name: impl core::fmt::Display,
    figures: &NodeMemory,
    pages: u64,
) -> Result {
    let (size, used, free) = (kb(figures.present), kb(figures.used()), kb(figures.free));
    write!(out, "{name:>4} {size:>12} {used:>12} {free:>12} {pages:>11}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn bars_show_where_the_tables_are() {
        let nodes = [0, 1, 2].map(NodeId).into_iter().collect();
        let memory = |node: NodeId| NodeMemory {
            present: 131072,
            managed: 131000,
            free: 130000 - u64::from(node.0),
        };
        let mut out = String::new();
        write(&mut out, &nodes, memory, |node| [1000, 1, 0][node.index()]).unwrap();
        assert_eq!(
            out,
            "node      size kB      used kB      free kB  hash pages
   0       524288         4288       520000        1000  ####################
   1       524288         4292       519996           1  #
   2       524288         4296       519992           0
 all      1572864        12876      1559988        1001
"
        );
    }

    #[test]
    fn sixty_four_nodes_of_a_terabyte_fit_80_columns() {
        let nodes: NodeSet = (0..64).map(NodeId).collect();
        let memory = |_| NodeMemory { present: 1 << 28, managed: 1 << 28, free: 0 };
        let mut out = String::new();
        write(&mut out, &nodes, memory, |_| 1 << 22).unwrap();
        assert_eq!(out.lines().count(), 66);
        assert!(out.lines().all(|line| line.len() <= 80), "{out}");
    }

    #[test]
    fn no_tables_are_no_bars() {
        let mut out = String::new();
        write(&mut out, &NodeSet::of(NodeId(0)), |_| NodeMemory::default(), |_| 0).unwrap();
        assert!(!out.contains('#'), "{out}");
    }
}
