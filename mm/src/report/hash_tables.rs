//! A table of our own: where the pages of each hash table lie. Neighbouring nodes with the same
//! number of pages are one entry, so that a spread table takes few of them on any machine:
//!
//! ```text
//! hash table            bytes  kind              pages by node
//! Dentry cache       33554432  vmalloc           0-3:1065 4-7:983
//! Mount-cache            4096  linear            0:1
//! ```

use core::fmt::{Result, Write};

use crate::ids::NodeId;

/// Where the column of pages begins.
const INDENT: usize = 48;
/// No line is longer, unless one name or entry alone is.
const WIDTH: usize = 80;

/// The line above the rows.
pub fn header(out: &mut dyn Write) -> Result {
    writeln!(out, "{:<16} {:>10}  {:<16}  pages by node", "hash table", "bytes", "kind")
}

/// One hash table: its name, its size in bytes, `linear`, `vmalloc` or `vmalloc hugepage`, and its
/// pages by node, ascending. Nodes without pages may be left out.
pub fn row(
    out: &mut dyn Write,
    name: &str,
    bytes: u64,
    kind: &str,
    pages: impl Iterator<Item = (NodeId, u64)>,
) -> Result {
    write!(out, "{name:<16} {bytes:>10}  {kind:<16} ")?;
    let mut column = INDENT - 1;
    let mut pages = pages.filter(|&(_, pages)| pages > 0).peekable();
    while let Some((first, count)) = pages.next() {
        let mut last = first;
        while let Some((node, _)) =
            pages.next_if(|&(node, more)| more == count && node.0 == last.0.wrapping_add(1))
        {
            last = node;
        }
        let entry = Entry { first, last, count };
        let length = entry.length();
        if column + 1 + length > WIDTH {
            write!(out, "\n{:1$}", "", INDENT - 1)?;
            column = INDENT - 1;
        }
        write!(out, " ")?;
        entry.write(out)?;
        column += 1 + length;
    }
    writeln!(out)
}

/// `0-3:1065`: that many pages on each of these nodes.
struct Entry {
    first: NodeId,
    last: NodeId,
    count: u64,
}

impl Entry {
    fn write(&self, out: &mut dyn Write) -> Result {
        if self.first == self.last {
            write!(out, "{}:{}", self.first, self.count)
        } else {
            write!(out, "{}-{}:{}", self.first, self.last, self.count)
        }
    }

    fn length(&self) -> usize {
        struct Length(usize);
        impl Write for Length {
            fn write_str(&mut self, text: &str) -> Result {
                self.0 += text.len();
                Ok(())
            }
        }
        let mut length = Length(0);
        // Counting cannot fail.
        let _ = self.write(&mut length);
        length.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn pages(counts: &[u64]) -> impl Iterator<Item = (NodeId, u64)> {
        (0..).map(NodeId).zip(counts.iter().copied())
    }

    #[test]
    fn equal_neighbours_are_one_entry() {
        let mut out = String::new();
        header(&mut out).unwrap();
        let spread = [1065, 1065, 1065, 1065, 983, 983, 983, 983];
        row(&mut out, "Dentry cache", 33554432, "vmalloc", pages(&spread)).unwrap();
        row(&mut out, "Inode-cache", 16777216, "vmalloc hugepage", pages(&[512; 8])).unwrap();
        row(&mut out, "Mountpoint-cache", 4096, "linear", pages(&[0, 0, 1])).unwrap();
        row(&mut out, "PID", 12288, "vmalloc", pages(&[1, 0, 1, 1])).unwrap();
        assert_eq!(
            out,
            "hash table            bytes  kind              pages by node
Dentry cache       33554432  vmalloc           0-3:1065 4-7:983
Inode-cache        16777216  vmalloc hugepage  0-7:512
Mountpoint-cache       4096  linear            2:1
PID                   12288  vmalloc           0:1 2-3:1
"
        );
    }

    #[test]
    fn an_uneven_spread_over_64_nodes_is_wrapped_at_80_columns() {
        let counts: [u64; 64] = core::array::from_fn(|node| if node % 2 == 0 { 10 } else { 21 });
        let mut out = String::new();
        row(&mut out, "Dentry cache", 4194304, "vmalloc", pages(&counts)).unwrap();
        assert!(out.lines().all(|line| line.len() <= 80), "{out}");
        assert!(out.starts_with(
            "Dentry cache        4194304  vmalloc           0:10 1:21 2:10 3:21 4:10 5:21\n"
        ));
        assert_eq!(
            out.lines().nth(1),
            Some(&*std::format!("{:47} 6:10 7:21 8:10 9:21 10:10 11:21", ""))
        );
        assert_eq!(out.split_whitespace().filter(|word| word.contains(':')).count(), 64);
    }
}
