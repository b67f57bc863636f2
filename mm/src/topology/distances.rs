//! Distances between nodes: one byte a pair.

use crate::ids::NodeId;

/// Distance of a node to itself (ACPI 6.5, 5.2.17).
pub const LOCAL: u8 = 10;
/// Distance between two nodes about which nothing is known.
pub const REMOTE: u8 = 20;

/// Distances by node: `nodes` rows of `nodes` bytes.
#[derive(Clone, Copy)]
pub struct Distances<'m> {
    nodes: usize,
    rows: &'m [u8],
}

impl<'m> Distances<'m> {
    /// From one node to another; 10 and 20 outside the table.
    pub fn get(&self, from: NodeId, to: NodeId) -> u8 {
        let row = self.rows.chunks_exact(self.nodes.max(1)).nth(from.index());
        let known = row.and_then(|row| row.get(to.index()));
        known.copied().unwrap_or(default(from, to))
    }
}

/// 10 for one node, 20 for two.
pub fn default(from: NodeId, to: NodeId) -> u8 {
    if from == to { LOCAL } else { REMOTE }
}

/// Fills a table for `nodes` nodes. Without room for it the table stays empty, which means 10 and
/// 20.
pub fn fill<'m>(
    room: &'m mut [u8],
    nodes: usize,
    distance: impl Fn(NodeId, NodeId) -> u8,
) -> Distances<'m> {
    let Some(rows) = nodes.checked_mul(nodes).and_then(|bytes| room.get_mut(..bytes)) else {
        return Distances { nodes: 0, rows: &[] };
    };
    for (from, row) in rows.chunks_exact_mut(nodes.max(1)).enumerate() {
        for (to, byte) in row.iter_mut().enumerate() {
            *byte = distance(NodeId(from as u16), NodeId(to as u16));
        }
    }
    Distances { nodes, rows }
}
