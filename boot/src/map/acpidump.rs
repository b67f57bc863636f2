//! The text of `acpidump` -> tables.
//!
//! ```text
//! SRAT @ 0x000000007FE2166A
//!     0000: 53 52 41 54 30 01 00 00 01 7F 42 4F 43 48 53 20  SRAT0.....BOCHS
//! ```
//!
//! What real dumps go through is tolerated: other text around the tables, quotation marks in front
//! of lines, Windows line ends, letters of any case, addresses of any width, lines cut off. A table
//! ends before the first byte that is not there: what a dump lost is never made up.

/// A table of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpedTable {
    /// Its signature as the dump's heading has it, in capitals.
    pub signature: String,
    /// Where it lay in memory.
    pub address: u64,
    /// Its bytes, up to the first that is missing.
    pub bytes: Vec<u8>,
    /// The offset that a line has whose place is another, if there is one: lines are missing, or
    /// in disorder. Nothing is read from there on.
    pub jumps_to: Option<usize>,
}

/// The most bytes that a table may have here; a longer one ends there.
const LONGEST: usize = 16 << 20;

/// All tables of a dump, in its order; none when the text is no dump.
pub fn parse(text: &str) -> Vec<DumpedTable> {
    let mut tables: Vec<DumpedTable> = Vec::new();
    // Whether lines of bytes belong to the last table.
    let mut open = false;
    for line in text.lines().map(bare) {
        if let Some((signature, address)) = heading(line) {
            let signature = signature.to_ascii_uppercase();
            tables.push(DumpedTable { signature, address, bytes: Vec::new(), jumps_to: None });
            open = true;
        } else if let Some((offset, bytes)) = line_of_bytes(line)
            && let Some(table) = tables.last_mut().filter(|_| open)
        {
            open = table.add(offset, bytes);
        } else if line.contains(" @ 0x") {
            // A heading that is none of ours, as `RSD PTR @ 0x...`: its lines are not either.
            open = false;
        }
    }
    tables
}

impl DumpedTable {
    /// Adds a line; says whether the next one may follow.
    fn add(&mut self, offset: usize, bytes: impl Iterator<Item = u8>) -> bool {
        if offset != self.bytes.len() {
            self.jumps_to = Some(offset);
            return false;
        }
        self.bytes.extend(bytes);
        self.bytes.len() < LONGEST
    }
}

/// A line without what mail programs and quotations put in front of it.
fn bare(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>', '|']).trim_end()
}

/// `SRAT @ 0x7FE2166A`: signature and address.
fn heading(line: &str) -> Option<(&str, u64)> {
    let (signature, address) = line.split_once('@')?;
    let signature = signature.trim_end();
    let letters = signature.bytes().all(|byte| byte.is_ascii_graphic());
    let address = address.split_whitespace().next()?;
    let digits = address.strip_prefix("0x").or_else(|| address.strip_prefix("0X"))?;
    let address = u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
    (signature.len() == 4 && letters).then_some((signature, address))
}

/// `0010: 42 58 50 43 ...  BXPC....`: offset and bytes, 16 at most. Text follows behind two blanks.
fn line_of_bytes(line: &str) -> Option<(usize, impl Iterator<Item = u8>)> {
    let (offset, rest) = line.split_once(':')?;
    let hexadecimal = !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_hexdigit());
    let offset = usize::from_str_radix(offset, 16).ok().filter(|_| hexadecimal)?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let rest = rest.find("  ").map_or(rest, |end| &rest[..end]);
    let byte = |word: &str| {
        let two_digits = word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        u8::from_str_radix(word, 16).ok().filter(|_| two_digits)
    };
    Some((offset, rest.split([' ', '\t']).map_while(byte).take(16)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
SRAT @ 0x000000007FE2166A
    0000: 53 52 41 54 30 01 00 00 01 7F 42 4F 43 48 53 20  SRAT0.....BOCHS
    0010: 42 58 50 43                                      BXPC

SLIT @ 0x7fe21780
  0000: 53 4c 49 54\r
";

    fn tables(text: &str) -> Vec<(String, u64, usize)> {
        parse(text).into_iter().map(|t| (t.signature, t.address, t.bytes.len())).collect()
    }

    #[test]
    fn tables_have_signature_address_and_bytes() {
        assert_eq!(
            tables(DUMP),
            [("SRAT".to_owned(), 0x7fe2166a, 20), ("SLIT".to_owned(), 0x7fe21780, 4)]
        );
        assert_eq!(parse(DUMP)[0].bytes[16..], *b"BXPC");
        assert!(parse("no dump at all\n0000: 00 11\n").is_empty());
    }

    #[test]
    fn what_dumps_go_through_changes_nothing() {
        let expected = tables(DUMP);
        for changed in [
            DUMP.replace('\n', "\r\n"),
            DUMP.replace("    00", "> \t00").replace("SRAT @", "> SRAT @"),
            DUMP.to_lowercase(),
            DUMP.replace("  SRAT0.....BOCHS", "").replace("  BXPC", ""),
            format!("From: somebody\nSubject: x: y @ z\n\n{DUMP}\nRegards\n"),
            DUMP.replace("SLIT @", "RSD PTR @ 0xF0000\n0000: 52 53 44\nSLIT @"),
            DUMP.replace(": 53 52 41", ": 53 52 41 54 30 01 00 00 01 7F 42 4F 43 48 53 20 11  53"),
        ] {
            assert_eq!(tables(&changed), expected, "{changed}");
        }
    }

    #[test]
    fn a_table_ends_where_a_line_is_missing_or_cut() {
        let without = "SRAT @ 0x0\n0000: 01 02\n0010: 03\n0002: 04\n";
        let table = &parse(without)[0];
        assert_eq!((&table.bytes[..], table.jumps_to), (&[1, 2][..], Some(0x10)));
        let cut = "SRAT @ 0x0\n0000: 01 02 0\n";
        assert_eq!(parse(cut)[0].bytes, [1, 2]);
        assert!(parse("SRAT @ 0x12")[0].bytes.is_empty());
    }

    #[test]
    fn headings_that_are_none() {
        for line in ["SRAT @", "SRAT @ 12", "SRATS @ 0x1", "SRA @ 0x1", "SRAT @ 0x", "SRAT @ 0x+1"]
        {
            assert_eq!(heading(line), None, "{line}");
        }
        assert_eq!(heading("SRAT @ 0xfFfF (32 bit)"), Some(("SRAT", 0xffff)));
        assert_eq!(heading("SRAT @ 0x10000000000000000"), None);
    }
}
