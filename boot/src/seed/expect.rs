//! Where hash tables must lie, by arithmetic from their sizes alone.
//!
//! With hashdist=0 the early tables lie whole where boot memory is taken, on node 0 unless it is
//! too small; each late table up to 4 MiB lies whole on the node whose turn it is. With hashdist=1
//! only tables that are early all the same stay there, and all others are dealt to the nodes by
//! vmalloc: in runs of pages, or in 2 MiB blocks when each node's share is at least one block.
//! What vmalloc needs beside, page tables and records, comes from node 0, the boot CPU's.

use super::page_tables::Areas;
use super::placement::{HashTable, NodeMemory, Placement};
use super::spread::{BLOCK, Cursor};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// The largest table in one piece, in bytes: order 10.
const LINEAR: u64 = 4 << 20;
/// The policy leaves out nodes with less present memory, in kB.
const LEAST_KB: u64 = 16 << 10;

/// Present memory below 16 MiB in kB: 4096 frames less the first, and those from 0x9f000 to 1 MiB.
/// Boot memory starts above it.
const LOW_KB: u64 = 3998 * 4;

/// What one boot must show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The pages of each table on each node: tables in their order, nodes in theirs.
    pub tables: Vec<Vec<u64>>,
    /// Frames of vmalloc's page tables and records, all on node 0.
    pub bookkeeping: u64,
}

impl Expected {
    /// What all tables and their mappings take of each node, in kB.
    pub fn kb_by_node(&self, nodes: usize) -> Vec<u64> {
        let mut kb = vec![0; nodes];
        for table in &self.tables {
            kb.iter_mut().zip(table).for_each(|(sum, pages)| *sum += pages * PAGE / 1024);
        }
        if let Some(first) = kb.first_mut() {
            *first += self.bookkeeping * PAGE / 1024;
        }
        kb
    }
}

/// The places of the nodes that the interleave policy goes round: all with 16 MiB or more, or,
/// where there is none, the largest.
fn interleaved(nodes: &[NodeMemory]) -> Vec<usize> {
    let enough: Vec<usize> =
        (0..nodes.len()).filter(|&place| nodes[place].mem_total_kb >= LEAST_KB).collect();
    if !enough.is_empty() {
        return enough;
    }
    let largest = (0..nodes.len()).rev().max_by_key(|&place| nodes[place].mem_total_kb);
    largest.into_iter().collect()
}

/// The place of the node that boot memory is taken from: the first that reaches above 16 MiB, the
/// nodes being laid end to end.
fn boot_node(nodes: &[NodeMemory]) -> usize {
    let mut sum: u64 = 0;
    let above = nodes.iter().position(|node| {
        sum = sum.saturating_add(node.mem_total_kb);
        sum > LOW_KB
    });
    above.unwrap_or(0)
}

/// What a boot must show whose tables have these sizes; `hashdist` is its option.
///
/// Only names, sizes and earliness of the tables are looked at, and how much memory the nodes
/// have: nothing of where the tables were found.
pub fn expect(boot: &Placement, hashdist: bool) -> Expected {
    let online = boot.nodes.len();
    let places = interleaved(&boot.nodes);
    let mut cursor = Cursor::new(places.len());
    let mut areas = Areas::default();
    let mut tables = Vec::with_capacity(boot.tables.len());
    for table in &boot.tables {
        let mut counts = vec![0; online];
        match share(table, hashdist, online, &mut cursor, &mut areas) {
            Share::Boot(pages) => {
                if let Some(count) = counts.get_mut(boot_node(&boot.nodes)) {
                    *count = pages;
                }
            }
            Share::Dealt(dealt) => {
                places.iter().zip(dealt).for_each(|(&place, pages)| counts[place] = pages);
            }
        }
        tables.push(counts);
    }
    Expected { tables, bookkeeping: areas.frames() }
}

/// Where a table's pages are from.
enum Share {
    /// Boot memory: all on one node.
    Boot(u64),
    /// The policy: one count for each node that it goes round.
    Dealt(Vec<u64>),
}

fn share(
    table: &HashTable,
    hashdist: bool,
    online: usize,
    cursor: &mut Cursor,
    areas: &mut Areas,
) -> Share {
    let pages = table.bytes.div_ceil(PAGE);
    if table.early {
        return Share::Boot(pages);
    }
    if !hashdist && table.bytes <= LINEAR {
        return Share::Dealt(cursor.linear(pages));
    }
    if table.bytes / online.max(1) as u64 >= BLOCK * PAGE {
        areas.blocks(pages.div_ceil(BLOCK));
        return Share::Dealt(cursor.blocks(pages));
    }
    areas.pages(pages);
    Share::Dealt(cursor.runs(pages))
}

/// How much less each node must have used with hashdist=1 than with hashdist=0, in kB.
pub fn delta_kb(before: &Placement, after: &Placement) -> Vec<i64> {
    let nodes = before.nodes.len();
    let before = expect(before, false).kb_by_node(nodes);
    let after = expect(after, true).kb_by_node(nodes);
    before.iter().zip(after).map(|(&before, after)| before as i64 - after as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn placement(node_kb: &[u64], tables: &[(&str, u64, bool)]) -> Placement {
        let node = |(id, &kb)| NodeMemory {
            id: id as u32,
            mem_total_kb: kb,
            mem_free_kb: 0,
            mem_used_kb: kb,
        };
        let table = |&(name, bytes, early): &(&str, u64, bool)| HashTable {
            name: name.into(),
            bytes,
            early,
            pages_by_node: Default::default(),
            placement: String::new(),
            address: 0,
        };
        Placement {
            nodes: node_kb.iter().enumerate().map(node).collect(),
            tables: tables.iter().map(table).collect(),
        }
    }

    #[test]
    fn the_seeds_own_tables() {
        let nodes = [3_407_488; 8];
        let before =
            placement(&nodes, &[("Dentry cache", 32 * MIB, true), ("Inode-cache", 16 * MIB, true)]);
        let after = placement(
            &nodes,
            &[("Dentry cache", 32 * MIB, false), ("Inode-cache", 16 * MIB, false)],
        );
        let expected = expect(&before, false);
        assert_eq!(expected.tables[0], [8192, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(expected.bookkeeping, 0);
        let expected = expect(&after, true);
        // 16 and 8 blocks of 2 MiB on 8 nodes; they are mapped without leaf tables.
        assert_eq!(expected.tables, [[1024; 8], [512; 8]]);
        assert_eq!(expected.bookkeeping, 2);
        // 7/8 of 48 MiB leave node 0, and a directory and a frame of records come to it.
        let delta = delta_kb(&before, &after);
        assert_eq!(delta[0], 43008 - 8);
        assert_eq!(delta[1..], [-6144; 7]);
    }

    #[test]
    fn late_linear_tables_take_turns() {
        let tables = [("early", 4 * MIB, true), ("a", MIB, false), ("b", 8192, false)];
        let expected = expect(&placement(&[1 << 20; 2], &tables), false);
        assert_eq!(expected.tables, [[1024, 0], [256, 0], [0, 2]]);
        assert_eq!(expected.kb_by_node(2), [5120, 8]);
    }

    #[test]
    fn a_late_table_above_4_mib_is_dealt_with_hashdist_0_too() {
        let tables = [("big", 8 * MIB, false), ("next", 4096, false)];
        let expected = expect(&placement(&[1 << 20; 8], &tables), false);
        // 20 batches of 100, then 48 pages: (13 * 4, 12 * 4) * 20 + 6 each.
        assert_eq!(expected.tables[0], [266, 266, 266, 266, 246, 246, 246, 246]);
        assert_eq!(expected.tables[1], [1, 0, 0, 0, 0, 0, 0, 0]);
        // Four leaves, a directory and a frame of records.
        assert_eq!(expected.bookkeeping, 6);
    }

    #[test]
    fn early_tables_stay_with_hashdist_1() {
        let tables = [("PID", 32768, true), ("futex", 16384, false)];
        let expected = expect(&placement(&[1 << 20; 4], &tables), true);
        assert_eq!(expected.tables, [[8, 0, 0, 0], [1, 1, 1, 1]]);
        assert_eq!(expected.kb_by_node(4), [32 + 4 + 12, 4, 4, 4]);
    }

    #[test]
    fn boot_memory_is_above_16_mib() {
        let early = [("t", 4096, true)];
        let node_of = |node_kb: &[u64]| {
            let tables = expect(&placement(node_kb, &early), false).tables;
            tables[0].iter().position(|&pages| pages == 1)
        };
        assert_eq!(node_of(&[16384 - 392, 16384]), Some(1));
        assert_eq!(node_of(&[16384 - 388, 16384]), Some(0));
        assert_eq!(node_of(&[4096, 4096, 1 << 20]), Some(2));
    }

    #[test]
    fn small_nodes_are_left_out_but_count_as_online() {
        let nodes = [1 << 20, 0, 8192, 1 << 20];
        let expected = expect(&placement(&nodes, &[("t", 4 * MIB, false)]), true);
        // 4 MiB on 4 online nodes are no block each: runs over the two nodes that are left.
        assert_eq!(expected.tables, [[512, 0, 0, 512]]);
    }

    #[test]
    fn the_largest_of_small_nodes_has_it_all() {
        let expected = expect(&placement(&[4096, 8192, 8192], &[("t", 8192, false)]), true);
        assert_eq!(expected.tables, [[0, 2, 0]]);
        assert_eq!(expect(&placement(&[], &[("t", 8192, true)]), true).tables, [Vec::<u64>::new()]);
    }
}
