//! The walk over a table's records: bytes in; each record with its place, or why there is none, out.
//!
//! For tables whose records begin with a type and a length, as MADT and CEDT. The SRAT's walk is
//! its own, since Linux's rules for lengths there are.

use super::bytes::{array_at, u8_at};

/// How wide a record's length is.
#[derive(Clone, Copy, Debug)]
pub enum Head {
    /// Type u8, length u8.
    Byte,
    /// Type u8, reserved u8, length u16.
    Word,
}

/// A record and its place.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// Offset in the table, in bytes.
    pub offset: u32,
    /// Number in the table, from 0.
    pub record: u32,
    /// Its bytes, or what is wrong with it.
    pub bytes: Cut<'a>,
}

/// What there is of a record.
#[derive(Clone, Copy, Debug)]
pub enum Cut<'a> {
    /// All of it: at least type and length.
    Whole(&'a [u8]),
    /// Its length is less than type and length take; there is no way on.
    TooShort {
        /// The type.
        kind: u8,
        /// The length in bytes.
        length: u16,
    },
    /// It runs past the end of the table; the last record.
    Truncated {
        /// Bytes of it that are there, at least 1.
        present: u32,
    },
}

/// The records of a table. Ends at the table's end, at the latest.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    table: &'a [u8],
    at: usize,
    record: u32,
    head: Head,
}

impl<'a> Records<'a> {
    /// The records of a table that has the first one at `first`.
    pub fn new(table: &'a [u8], first: usize, head: Head) -> Records<'a> {
        Records { table, at: first, record: 0, head }
    }

    /// No more records: nothing behind the last one can be trusted.
    pub fn stop(&mut self) {
        self.at = self.table.len();
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let rest = self.table.get(self.at..).filter(|rest| !rest.is_empty())?;
        let bytes = self.head.cut(rest);
        let raw = Raw { offset: self.at as u32, record: self.record, bytes };
        match bytes {
            Cut::Whole(bytes) => self.at += bytes.len(),
            Cut::TooShort { .. } | Cut::Truncated { .. } => self.stop(),
        }
        self.record += 1;
        Some(raw)
    }
}

impl Head {
    /// The record that `rest` begins with. `rest` is not empty.
    fn cut(self, rest: &[u8]) -> Cut<'_> {
        let (head, length) = match self {
            Head::Byte => (2, u8_at(rest, 1).map(u16::from)),
            Head::Word => (4, array_at(rest, 2).map(u16::from_le_bytes)),
        };
        let truncated = Cut::Truncated { present: rest.len() as u32 };
        let Some((&[kind, ..], length)) = rest.first_chunk::<1>().zip(length) else {
            return truncated;
        };
        if length < head {
            return Cut::TooShort { kind, length };
        }
        rest.get(..usize::from(length)).map_or(truncated, Cut::Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Offset and bytes of each record, or the letter of what is wrong.
    fn walk(table: &[u8], head: Head) -> Vec<(u32, String)> {
        let text = |cut| match cut {
            Cut::Whole(bytes) => bytes.len().to_string(),
            Cut::TooShort { kind, length } => std::format!("S{kind}/{length}"),
            Cut::Truncated { present } => std::format!("T{present}"),
        };
        Records::new(table, 1, head).map(|raw| (raw.offset, text(raw.bytes))).collect()
    }

    fn is(table: &[u8], head: Head, records: &[(u32, &str)]) {
        let found = walk(table, head);
        let found: Vec<_> = found.iter().map(|(at, text)| (*at, text.as_str())).collect();
        assert_eq!(found, records);
    }

    #[test]
    fn every_record_ends_where_its_length_says() {
        is(&[99, 1, 2, 7, 4, 0, 0, 1, 2], Head::Byte, &[(1, "2"), (3, "4"), (7, "2")]);
        is(&[99, 1, 0, 4, 0, 2, 0, 5, 0, 9], Head::Word, &[(1, "4"), (5, "5")]);
        is(&[99], Head::Byte, &[]);
        is(&[], Head::Word, &[]);
    }

    #[test]
    fn what_is_cut_short_or_has_no_length_is_the_last_one() {
        is(&[99, 1, 2, 7, 4, 0], Head::Byte, &[(1, "2"), (3, "T3")]);
        is(&[99, 1], Head::Byte, &[(1, "T1")]);
        is(&[99, 1, 0, 9], Head::Word, &[(1, "T3")]);
        is(&[99, 5, 1, 7, 7], Head::Byte, &[(1, "S5/1")]);
        is(&[99, 5, 0, 3, 0, 7, 7], Head::Word, &[(1, "S5/3")]);
    }
}
