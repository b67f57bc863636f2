//! Figures between nodes: a matrix while it fits on a line; for more nodes, from each node the
//! nodes at each figure.

use std::collections::BTreeMap;
use std::fmt::{Result, Write};

use nearmem::NodeId;

use super::text::{Runs, WIDTH, wrapped};

/// Columns in front of a row.
const LABEL: usize = 8;
/// Columns of a figure at least, the blanks before it included.
const CELL: usize = 4;

/// Writes the figures; `cell` has them by row and column, `None` for what is not known.
pub fn grid(
    out: &mut dyn Write,
    rows: &[NodeId],
    columns: &[NodeId],
    cell: &dyn Fn(usize, usize) -> Option<u32>,
) -> Result {
    let figures = (0..rows.len())
        .flat_map(|row| (0..columns.len()).filter_map(move |column| cell(row, column)));
    let nodes = columns.iter().map(|node| u32::from(node.0));
    let digits = figures.chain(nodes).map(|figure| figure.to_string().len()).max();
    let width = CELL.max(digits.unwrap_or(0) + 2);
    match LABEL + width * columns.len() <= WIDTH {
        true => matrix(out, rows, columns, width, cell),
        false => lists(out, rows, columns, cell),
    }
}

fn matrix(
    out: &mut dyn Write,
    rows: &[NodeId],
    columns: &[NodeId],
    width: usize,
    cell: &dyn Fn(usize, usize) -> Option<u32>,
) -> Result {
    write!(out, "{:LABEL$}", "")?;
    columns.iter().try_for_each(|node| write!(out, "{node:>width$}"))?;
    writeln!(out)?;
    for (row, node) in rows.iter().enumerate() {
        write!(out, "  {node:>4}  ")?;
        for column in 0..columns.len() {
            let figure = cell(row, column).map_or("-".to_owned(), |figure| figure.to_string());
            write!(out, "{figure:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn lists(
    out: &mut dyn Write,
    rows: &[NodeId],
    columns: &[NodeId],
    cell: &dyn Fn(usize, usize) -> Option<u32>,
) -> Result {
    for (row, node) in rows.iter().enumerate() {
        let mut at: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (column, to) in columns.iter().enumerate() {
            if let Some(figure) = cell(row, column) {
                at.entry(figure).or_default().push(to.0.into());
            }
        }
        let text: Vec<_> =
            at.iter().map(|(figure, nodes)| format!("{figure} to {}", Runs(nodes))).collect();
        wrapped(out, &format!("  {node:>4}  "), 10, &text.join("; "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(count: u16, cell: &dyn Fn(usize, usize) -> Option<u32>) -> String {
        let nodes: Vec<_> = (0..count).map(NodeId).collect();
        let mut out = String::new();
        grid(&mut out, &nodes, &nodes, cell).unwrap();
        out
    }

    #[test]
    fn few_nodes_have_a_matrix_and_many_have_lists() {
        let far = |row, column| Some(if row == column { 10 } else { 21 });
        assert_eq!(text(2, &far), "           0   1\n     0    10  21\n     1    21  10\n");
        assert_eq!(text(18, &far).lines().count(), 19);
        let lists = text(19, &far);
        assert_eq!(lists.lines().nth(1), Some("     1  10 to 1; 21 to 0,2-18"));
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_large_figures_widen_their_column() {
        let some = |row, column| (row == column).then_some(204_800);
        assert_eq!(
            text(2, &some),
            "               0       1\n     0    204800       -\n     1         -  204800\n"
        );
    }
}
