//! Distances between nodes: a SLIT, which has them by domain, in; one byte a pair of nodes out.

use super::domains::{self, Domain};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::slit::{SIGNATURE, Slit, UNREACHABLE};
use crate::ids::{NodeId, ProximityDomain};

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

/// The distances of a SLIT, by node; 10 and 20 without one, and for domains that it does not have.
pub fn from_slit<'m>(
    slit: Option<&[u8]>,
    domains: &[Domain],
    room: &'m mut [u8],
    findings: &mut dyn Findings,
) -> Distances<'m> {
    let nodes = domains.len();
    if room.len() < nodes * nodes {
        findings.add(Finding::new(Kind::NodeDistancesFull { nodes: nodes as u32 }));
    }
    let Some(bytes) = slit else {
        findings.add(Finding::at(Place::table(SIGNATURE), Kind::SlitAbsent));
        return fill(room, nodes, default);
    };
    let Some(slit) = Slit::parse(bytes, findings) else { return fill(room, nodes, default) };
    describe(&slit, domains, findings);
    let pxm = |node: NodeId| domains.get(node.index()).map(|domain| domain.pxm);
    fill(room, nodes, |from, to| {
        let known = pxm(from).zip(pxm(to)).and_then(|(from, to)| slit.distance(from, to));
        known.unwrap_or_else(|| default(from, to))
    })
}

/// Says what is noteworthy about a valid SLIT. Of pairs, the first of each sort is named.
fn describe(slit: &Slit<'_>, named: &[Domain], findings: &mut dyn Findings) {
    let rows = slit.count() as u32;
    for pxm in named.iter().map(|domain| domain.pxm).filter(|pxm| pxm.0 >= rows) {
        let kind = Kind::SlitSmallerThanPxm { pxm, rows };
        findings.add(Finding::at(Place::table(SIGNATURE), kind));
    }
    for row in (0..rows).filter(|&row| domains::find(named, ProximityDomain(row)).is_none()) {
        let kind = Kind::SlitRowWithoutDomain { row };
        findings.add(Finding::at(slit.place(row as usize, 0), kind));
    }
    if let Some((row, column, there, back)) = slit.asymmetric() {
        let kind = Kind::SlitAsymmetric { row: row as u32, column: column as u32, there, back };
        findings.add(Finding::at(slit.place(row, column), kind));
    }
    if let Some((row, column, _)) = slit.cells().find(|&(_, _, cell)| cell == UNREACHABLE) {
        let kind = Kind::SlitUnreachable255 { row: row as u32, column: column as u32 };
        findings.add(Finding::at(slit.place(row, column), kind));
    }
}
