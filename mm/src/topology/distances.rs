//! Distances between nodes: a SLIT, which has them by domain, in; one byte a pair of nodes out.

use super::domains::{self, Domain};
use super::fake::{FakeDistances, Parts};
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
        let inside = from.index() < self.nodes && to.index() < self.nodes;
        let known = inside.then(|| self.rows.get(from.index() * self.nodes + to.index())).flatten();
        known.copied().unwrap_or(default(from, to))
    }
}

/// 10 for one node, 20 for two.
pub fn default(from: NodeId, to: NodeId) -> u8 {
    if from == to { LOCAL } else { REMOTE }
}

/// Fills a table for `nodes` nodes, row by row. Without room for it the table stays empty, which
/// means 10 and 20.
pub fn fill<'m>(
    room: &'m mut [u8],
    nodes: usize,
    mut distance: impl FnMut(NodeId, NodeId) -> u8,
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

/// Distances of the nodes that the SRAT names.
pub struct BySlit<'a> {
    slit: Option<Slit<'a>>,
    domains: &'a [Domain],
}

impl<'a> BySlit<'a> {
    /// Nothing is known: 10 and 20.
    pub const NONE: BySlit<'a> = BySlit { slit: None, domains: &[] };

    /// Reads a SLIT and says what is noteworthy about it.
    pub fn read(
        slit: Option<&'a [u8]>,
        domains: &'a [Domain],
        findings: &mut dyn Findings,
    ) -> BySlit<'a> {
        if slit.is_none() {
            findings.add(Finding::at(Place::table(SIGNATURE), Kind::SlitAbsent));
        }
        let slit = slit.and_then(|bytes| Slit::parse(bytes, findings));
        if let Some(slit) = &slit {
            describe(slit, domains, findings);
        }
        BySlit { slit, domains }
    }

    /// From one node to another; 10 and 20 without a SLIT, and for domains that it does not have.
    fn get(&self, from: NodeId, to: NodeId) -> u8 {
        let pxm = |node: NodeId| self.domains.get(node.index()).map(|domain| domain.pxm);
        let slit = self.slit.as_ref();
        let known = slit.zip(pxm(from).zip(pxm(to)));
        let known = known.and_then(|(slit, (from, to))| slit.distance(from, to));
        known.unwrap_or_else(|| default(from, to))
    }
}

/// The table of `nodes` nodes.
pub fn of_nodes<'m>(
    physical: &BySlit<'_>,
    nodes: usize,
    room: &'m mut [u8],
    findings: &mut dyn Findings,
) -> Distances<'m> {
    check_room(room, nodes, findings);
    fill(room, nodes, |from, to| physical.get(from, to))
}

/// The table of fake nodes: what is given, then the distances of the nodes that they are parts
/// of. Two parts of one node are 10 apart, as in Linux.
pub fn of_parts<'m>(
    physical: &BySlit<'_>,
    parts: &Parts<'_>,
    given: FakeDistances<'_>,
    room: &'m mut [u8],
    findings: &mut dyn Findings,
) -> Distances<'m> {
    let nodes = parts.of.len();
    check_room(room, nodes, findings);
    let (count, pairs) = (given.iter().count(), nodes * nodes);
    if count > pairs {
        let kind = Kind::FakeDistancesLeftOver { given: count as u32, used: pairs as u32 };
        findings.add(Finding::new(kind));
    }
    let mut given = given.iter();
    fill(room, nodes, |from, to| match given.next() {
        Some(distance) if from == to && distance != LOCAL => {
            findings.add(Finding::new(Kind::FakeBadDiagonal { node: from, distance }));
            LOCAL
        }
        Some(distance) => distance,
        None => physical.get(parts.whole(from), parts.whole(to)),
    })
}

fn check_room(room: &[u8], nodes: usize, findings: &mut dyn Findings) {
    if room.len() < nodes * nodes {
        findings.add(Finding::new(Kind::NodeDistancesFull { nodes: nodes as u32 }));
    }
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
