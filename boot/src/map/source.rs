//! A file, a folder's file or standard input -> bytes, and bytes -> text.

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// What stands for standard input.
const STANDARD_INPUT: &str = "-";

/// What was read, and what to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as it was given, or `standard input`.
    pub name: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a file, or with `-` standard input.
    ///
    /// # Errors
    /// It cannot be read; or standard input is empty, as it is when read a second time.
    pub fn read(path: &Path) -> Result<Source> {
        if path.as_os_str() == STANDARD_INPUT {
            return standard_input();
        }
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Ok(Source { name, bytes }),
            Err(error) => Err(error).context(cannot(&name, path)),
        }
    }

    /// The bytes as text: UTF-8, or UTF-16 with its mark, as a Windows shell writes; what is
    /// neither becomes a replacement character.
    pub fn text(&self) -> String {
        let wide = |from: fn([u8; 2]) -> u16| {
            let units = self.bytes.chunks_exact(2).skip(1).map(|pair| from([pair[0], pair[1]]));
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        };
        match self.bytes[..] {
            [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
            [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
            [0xef, 0xbb, 0xbf, ref text @ ..] => String::from_utf8_lossy(text).into_owned(),
            _ => String::from_utf8_lossy(&self.bytes).into_owned(),
        }
    }
}

fn standard_input() -> Result<Source> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    ensure!(!bytes.is_empty(), "standard input is empty: pipe a file into it, and name `-` once");
    Ok(Source { name: "standard input".to_owned(), bytes })
}

/// What to say of a file that cannot be read, and what to do about it where that is known.
fn cannot(name: &str, path: &Path) -> String {
    let firmware = path.starts_with("/sys/firmware") || path.starts_with("/proc");
    match firmware && path.exists() {
        true => format!("cannot read {name}: only root may, so use sudo"),
        false => format!("cannot read {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        Source { name: String::new(), bytes: bytes.to_vec() }.text()
    }

    #[test]
    fn text_is_utf_8_or_16() {
        assert_eq!(text(b"SRAT @"), "SRAT @");
        assert_eq!(text(b"\xef\xbb\xbfS"), "S");
        assert_eq!(text(b"\xff\xfeS\0@\0"), "S@");
        assert_eq!(text(b"\xfe\xff\0S\0@\0"), "S@");
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(text(b""), "");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Source::read("no/such.file".as_ref()).unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot read no/such.file: No such"), "{error:#}");
    }
}
