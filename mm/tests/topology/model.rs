//! The clean-up of memory ranges, written once more as the reference words it: pair by pair, until
//! nothing changes. Slow, and plain enough to be believed.

use std::collections::BTreeSet;

use nearmem::PhysRange;
use proptest::collection::vec;
use proptest::prelude::*;

use super::tables::{Machine, memory, srat};

/// The grid: 1 MiB a cell, so that one cell without a node refuses the table.
const CELL: u64 = 1 << 20;
const CELLS: u64 = 24;

/// A block of cells `start..end` of a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cells {
    start: u64,
    end: u64,
    pxm: u32,
}

impl Cells {
    fn meets(&self, other: &Cells) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// The domain of every cell of memory; `None` when the table is refused.
fn owners(mut blocks: Vec<Cells>, ram: &BTreeSet<u64>) -> Option<Vec<(u64, u32)>> {
    let end = ram.last().map_or(0, |last| last + 1);
    blocks.retain(|block| (block.start..block.end).any(|cell| ram.contains(&cell)));
    for block in &mut blocks {
        block.end = block.end.min(end);
    }
    for a in &blocks {
        if blocks.iter().any(|b| a.pxm != b.pxm && a.meets(b)) {
            return None;
        }
    }
    while let Some((i, j, hull)) = next_merge(&blocks) {
        blocks[i] = hull;
        blocks.remove(j);
    }
    let owner = |cell: u64| {
        let block = blocks.iter().find(|block| (block.start..block.end).contains(&cell))?;
        Some((cell, block.pxm))
    };
    ram.iter().map(|&cell| owner(cell)).collect()
}

/// Two blocks of one domain with no other domain's block in their hull.
fn next_merge(blocks: &[Cells]) -> Option<(usize, usize, Cells)> {
    for i in 0..blocks.len() {
        for j in i + 1..blocks.len() {
            let (a, b) = (blocks[i], blocks[j]);
            let hull = Cells { start: a.start.min(b.start), end: a.end.max(b.end), pxm: a.pxm };
            let alone = !blocks.iter().any(|other| other.pxm != a.pxm && other.meets(&hull));
            if a.pxm == b.pxm && alone {
                return Some((i, j, hull));
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 2048 }))]

    #[test]
    fn the_clean_up_is_that_of_the_model(
        blocks in vec((0..CELLS, 1..8u64, 0u32..3), 0..8),
        ram in proptest::collection::btree_set(0..CELLS, 1..20),
        grow in any::<bool>(),
    ) {
        let cells = |&(start, length, pxm): &(u64, u64, u32)| {
            Cells { start, end: (start + length).min(CELLS + 4), pxm }
        };
        let mut blocks: Vec<_> = blocks.iter().map(cells).collect();
        // Tables that cover all memory are rare by chance: half of them get what they lack.
        if grow {
            let taken = blocks.clone();
            let free = |cell: &&u64| {
                !taken.iter().any(|block| (block.start..block.end).contains(*cell))
            };
            let lacking: Vec<u64> = ram.iter().filter(free).copied().collect();
            blocks.extend(lacking.iter().map(|&cell| Cells { start: cell, end: cell + 1, pxm: 3 }));
        }
        let records: Vec<_> = blocks
            .iter()
            .map(|b| memory(b.pxm, PhysRange::new(b.start * CELL, b.end * CELL)))
            .collect();
        let memory: Vec<_> =
            ram.iter().map(|cell| PhysRange::new(cell * CELL, (cell + 1) * CELL)).collect();
        let ours = Machine::new(&memory, &srat(2, &records)).map(|map, _| {
            let cells = ram.iter().map(|&cell| {
                let node = map.node_of(nearmem::PhysAddr(cell * CELL).pfn())?;
                Some((cell, map.pxm(node)?.0))
            });
            cells.collect::<Option<Vec<_>>>()
        });
        prop_assert_eq!(ours, owners(blocks, &ram));
    }
}
