//! The names of the in-kernel tests, out of the ELF that holds them: nothing is booted for it.
//!
//! In flow the bytes of the suites' ELF, out flow the names.

use anyhow::{Context, Result, bail, ensure};

/// The section with the table of tests.
const TESTS: &str = ".nearmem_list";
/// Size of one test in it, in bytes. Its name begins at [`NAME`] and is filled up with zeros.
const TEST: usize = 64;
/// Where in a test its name begins.
const NAME: usize = 8;
/// Size of a section header in an ELF of class 64 (System V ABI, "Section Header").
const SECTION_HEADER: usize = 64;

/// All names in an ELF, sorted. An error when there are none, or one is there twice.
pub fn test_names(elf: &[u8]) -> Result<Vec<String>> {
    let table = section(elf, TESTS)?;
    ensure!(table.len().is_multiple_of(TEST), "the table of tests has a part of a test");
    let mut names = Vec::new();
    for test in table.chunks_exact(TEST) {
        let name = std::str::from_utf8(&test[NAME..]).context("a test's name is no text")?;
        names.push(name.trim_end_matches('\0').to_owned());
    }
    names.sort();
    ensure!(!names.is_empty(), "the suites' ELF has no test");
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("two in-kernel tests have the name {}", pair[0]);
    }
    Ok(names)
}

/// The bytes of a section of a 64-bit little-endian ELF.
fn section<'a>(elf: &'a [u8], wanted: &str) -> Result<&'a [u8]> {
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit little-endian ELF");
    let table = number(elf, 0x28, 8)?;
    let count = number(elf, 0x3c, 2)?;
    let header = |index: usize| -> Result<&[u8]> {
        let at = index.checked_mul(SECTION_HEADER).and_then(|offset| table.checked_add(offset));
        bytes(elf, at.context("an ELF offset overflows")?, SECTION_HEADER)
    };
    let contents = |header: &[u8]| bytes(elf, number(header, 0x18, 8)?, number(header, 0x20, 8)?);

    let strings = contents(header(number(elf, 0x3e, 2)?)?)?;
    for index in 0..count {
        let header = header(index)?;
        let name = strings.get(number(header, 0, 4)?..).unwrap_or_default();
        if name.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.starts_with(&[0])) {
            return contents(header);
        }
    }
    bail!("the ELF has no section {wanted}")
}

fn bytes(elf: &[u8], at: usize, len: usize) -> Result<&[u8]> {
    let end = at.checked_add(len).context("an ELF offset overflows")?;
    elf.get(at..end).context("the ELF is cut short")
}

fn number(elf: &[u8], at: usize, len: usize) -> Result<usize> {
    let mut value = [0; 8];
    value[..len].copy_from_slice(bytes(elf, at, len)?);
    Ok(u64::from_le_bytes(value).try_into()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF with two sections: the names of sections, and a table of tests with these names.
    fn elf(names: &[&str]) -> Vec<u8> {
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let strings = [b"\0.shstrtab\0", TESTS.as_bytes(), b"\0"].concat();
        let (strings_at, table_at) = (64, 64 + strings.len());
        elf.extend(&strings);
        for name in names {
            let mut test = [0; TEST];
            test[NAME..NAME + name.len()].copy_from_slice(name.as_bytes());
            elf.extend(test);
        }
        let headers = elf.len() as u64;
        elf[0x28..0x30].copy_from_slice(&headers.to_le_bytes());
        elf[0x3c] = 2;
        let table_len = names.len() * TEST;
        for (name, at, len) in [(1, strings_at, strings.len()), (11, table_at, table_len)] {
            let mut header = [0; SECTION_HEADER];
            header[0] = name;
            header[0x18..0x20].copy_from_slice(&(at as u64).to_le_bytes());
            header[0x20..0x28].copy_from_slice(&(len as u64).to_le_bytes());
            elf.extend(header);
        }
        elf
    }

    #[test]
    fn names_are_found_and_sorted() {
        let longest = "x".repeat(TEST - NAME);
        let found = test_names(&elf(&["b::two", &longest, "a::one"])).unwrap();
        assert_eq!(found, ["a::one", "b::two", &longest]);
    }

    #[test]
    fn a_name_that_is_there_twice_and_an_empty_table_are_errors() {
        assert!(test_names(&elf(&["a::one", "a::one"])).is_err());
        assert!(test_names(&elf(&[])).is_err());
    }

    #[test]
    fn no_cut_panics() {
        let whole = elf(&["a::one"]);
        for len in 0..whole.len() {
            assert!(test_names(&whole[..len]).is_err(), "{len} bytes");
        }
    }
}
