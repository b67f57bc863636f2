//! How the interleave policy deals a table's pages to nodes: by a cursor that goes round.

/// 4 KiB pages in a 2 MiB block.
pub const BLOCK: u64 = 512;
/// vmalloc asks for so many pages at once at most.
const BATCH: u64 = 100;

/// The nodes that the policy goes round, and which of them is next.
///
/// Counts are in 4 KiB pages, one for each node, in the order of the nodes.
#[derive(Debug, Clone)]
pub struct Cursor {
    nodes: usize,
    next: usize,
}

impl Cursor {
    /// A cursor over so many nodes (at least one) that stands at the first.
    pub fn new(nodes: usize) -> Cursor {
        Cursor { nodes: nodes.max(1), next: 0 }
    }

    /// The next node; moves one step.
    fn step(&mut self) -> usize {
        let node = self.next;
        self.next = (node + 1) % self.nodes;
        node
    }

    /// A table in one piece: all on the next node.
    pub fn linear(&mut self, pages: u64) -> Vec<u64> {
        let mut counts = vec![0; self.nodes];
        counts[self.step()] = pages;
        counts
    }

    /// A table of single pages: batches of 100, each dealt as runs to all nodes in turn, the first
    /// ones with a page more where it does not come out even.
    pub fn runs(&mut self, pages: u64) -> Vec<u64> {
        let mut counts = vec![0; self.nodes];
        let nodes = self.nodes as u64;
        let mut left = pages;
        while left > 0 {
            let batch = left.min(BATCH);
            for place in 0..nodes {
                counts[self.step()] += batch / nodes + u64::from(place < batch % nodes);
            }
            left -= batch;
        }
        counts
    }

    /// A table of 2 MiB blocks: one block for each node in turn. The last block is whole, too.
    pub fn blocks(&mut self, pages: u64) -> Vec<u64> {
        let mut counts = vec![0; self.nodes];
        for _ in 0..pages.div_ceil(BLOCK) {
            counts[self.step()] += BLOCK;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_by_hand() {
        assert_eq!(Cursor::new(3).runs(2048), [696, 676, 676]);
        assert_eq!(Cursor::new(8).runs(8192), [1065, 1065, 1065, 1065, 983, 983, 983, 983]);
        assert_eq!(Cursor::new(4).runs(256), [64; 4]);
        assert_eq!(Cursor::new(1).runs(777), [777]);
    }

    #[test]
    fn few_pages_go_to_the_first_nodes() {
        assert_eq!(Cursor::new(8).runs(3), [1, 1, 1, 0, 0, 0, 0, 0]);
        assert_eq!(Cursor::new(8).runs(0), [0; 8]);
    }

    #[test]
    fn runs_leave_the_cursor_where_it_was() {
        let mut cursor = Cursor::new(4);
        cursor.linear(1);
        // 100 and 28 pages: 25 each; then 7 each.
        assert_eq!(cursor.runs(128), [32; 4]);
        // 2 pages, from node 1 on.
        assert_eq!(cursor.runs(2), [0, 1, 1, 0]);
        assert_eq!(cursor.linear(5), [0, 5, 0, 0]);
    }

    #[test]
    fn blocks_move_it_on() {
        let mut cursor = Cursor::new(3);
        assert_eq!(cursor.blocks(4 * BLOCK), [2 * BLOCK, BLOCK, BLOCK]);
        assert_eq!(cursor.blocks(BLOCK + 1), [0, BLOCK, BLOCK]);
        assert_eq!(cursor.linear(1), [1, 0, 0]);
    }
}
