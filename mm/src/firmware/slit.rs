//! System Locality Information Table: distances between proximity domains (ACPI 6.5, 5.2.17).

use super::bytes::u64_at;
use super::{Header, Table};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::ids::ProximityDomain;

/// The signature.
pub const SIGNATURE: &str = "SLIT";
/// Distance of a domain to itself.
pub const LOCAL: u8 = 10;
/// Distance of domains that cannot reach each other.
pub const UNREACHABLE: u8 = 255;

/// Number of localities, u64.
const COUNT: usize = Header::LENGTH;
/// The matrix, row by row, a byte an entry.
const MATRIX: usize = COUNT + size_of::<u64>();
const _: () = assert!(MATRIX == 44);

/// A SLIT that is all there and whose distances may be used.
#[derive(Clone, Copy, Debug)]
pub struct Slit<'a> {
    count: usize,
    matrix: &'a [u8],
}

impl<'a> Slit<'a> {
    /// Looks at a table. It is valid when all distances are there, those on the diagonal are 10
    /// and all others above 10, as Linux wants it; a damaged one is refused whole, which is a
    /// finding and `None`. Asymmetric distances and 255 are valid.
    pub fn parse(bytes: &'a [u8], findings: &mut dyn Findings) -> Option<Slit<'a>> {
        let table = Table::parse(bytes, SIGNATURE, findings)?;
        let Some(slit) = Slit::cut_out(table, findings) else {
            let present = table.bytes.len().saturating_sub(MATRIX) as u32;
            let count = u64_at(table.bytes, COUNT).unwrap_or(0);
            let kind = Kind::SlitTruncated { count, bytes: present };
            findings.add(Finding::at(Place::byte(SIGNATURE, COUNT as u32), kind));
            return None;
        };
        if !slit.check(findings) {
            findings.add(Finding::at(Place::table(SIGNATURE), Kind::SlitRejected));
            return None;
        }
        Some(slit)
    }

    /// How many domains have a row: those below this number.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The distance from one domain to another; `None` when one of them has no row.
    pub fn distance(&self, from: ProximityDomain, to: ProximityDomain) -> Option<u8> {
        self.entry(from.0 as usize, to.0 as usize)
    }

    /// The offset of an entry in the table, in bytes.
    pub fn place(&self, row: usize, column: usize) -> Place {
        Place::byte(SIGNATURE, (MATRIX + row * self.count + column) as u32)
    }

    /// All distances as (row, column, distance), row by row.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, u8)> + 'a {
        self.matrix.chunks_exact(self.count.max(1)).enumerate().flat_map(|(row, cells)| {
            cells.iter().enumerate().map(move |(column, &distance)| (row, column, distance))
        })
    }

    /// The first pair with another distance back than there: (row, column, there, back).
    pub fn asymmetric(&self) -> Option<(usize, usize, u8, u8)> {
        self.cells().find_map(|(row, column, there)| {
            let back = self.entry(column, row)?;
            (row < column && there != back).then_some((row, column, there, back))
        })
    }

    /// The matrix, if it is all there. What lies behind it is a finding.
    fn cut_out(table: Table<'a>, findings: &mut dyn Findings) -> Option<Slit<'a>> {
        let count = usize::try_from(u64_at(table.bytes, COUNT)?).ok()?;
        let end = count.checked_mul(count)?.checked_add(MATRIX)?;
        let matrix = table.bytes.get(MATRIX..end)?;
        let behind = (table.bytes.len() - end) as u32;
        if behind > 0 {
            let kind = Kind::SlitLongerThanCount { bytes: behind };
            findings.add(Finding::at(Place::byte(SIGNATURE, end as u32), kind));
        }
        Some(Slit { count, matrix })
    }

    fn entry(&self, row: usize, column: usize) -> Option<u8> {
        if column >= self.count {
            return None;
        }
        self.matrix.get(row.checked_mul(self.count)?.checked_add(column)?).copied()
    }

    /// Whether the distances may be used. The first bad one of each sort is a finding.
    fn check(&self, findings: &mut dyn Findings) -> bool {
        let diagonal = self.cells().find(|&(row, column, cell)| row == column && cell != LOCAL);
        let remote = self.cells().find(|&(row, column, cell)| row != column && cell <= LOCAL);
        if let Some((row, _, distance)) = diagonal {
            let kind = Kind::SlitBadDiagonal { row: row as u32, distance };
            findings.add(Finding::at(self.place(row, row), kind));
        }
        if let Some((row, column, distance)) = remote {
            let kind = Kind::SlitBadRemote { row: row as u32, column: column as u32, distance };
            findings.add(Finding::at(self.place(row, column), kind));
        }
        if let &[first, ref others @ ..] = self.matrix
            && !others.is_empty()
            && others.iter().all(|&other| other == first)
        {
            findings.add(Finding::at(self.place(0, 0), Kind::SlitAllEqual { distance: first }));
        }
        diagonal.is_none() && remote.is_none()
    }
}

#[cfg(test)]
#[path = "slit_tests.rs"]
mod tests;
