//! Sizes, lists of numbers, and lines that are not too long.

use std::fmt::{self, Display, Formatter, Write};

/// Columns of a line.
pub const WIDTH: usize = 80;

/// Bytes in the largest unit that leaves a whole number or at least 10.
pub struct Size(pub u64);

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
        let (mut value, mut unit) = (self.0, 0);
        while unit + 1 < units.len() && value > 0 && (value % 1024 == 0 || value >= 10 * 1024) {
            value /= 1024;
            unit += 1;
        }
        f.pad(&format!("{value} {}", units[unit]))
    }
}

/// Numbers in their order, `0-2,5,8-9` for those that follow each other.
pub struct Runs<'a>(pub &'a [u32]);

impl Display for Runs<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, run) in self.0.chunk_by(|a, b| b.checked_sub(*a) == Some(1)).enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            match run {
                [first, second] => write!(f, "{first},{second}")?,
                [first, .., last] => write!(f, "{first}-{last}")?,
                [one] => write!(f, "{one}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

/// A number and its noun, as `1 node` or `2 nodes`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Writes text behind `start`, broken at blanks and commas, but not inside `[mem ...]`; further
/// lines have `hang` blanks in front. A word that is longer than a line is not broken.
pub fn wrapped(out: &mut dyn Write, start: &str, hang: usize, text: &str) -> fmt::Result {
    let mut line = start.to_owned();
    let (mut fresh, mut rest) = (true, text);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(end_of_word(rest));
        if !fresh && line.chars().count() + word.trim_end().chars().count() > WIDTH {
            writeln!(out, "{}", line.trim_end())?;
            line = " ".repeat(hang);
        }
        line.push_str(word);
        (fresh, rest) = (false, after);
    }
    writeln!(out, "{}", line.trim_end())
}

/// Where the first word ends, its blank or comma included.
fn end_of_word(text: &str) -> usize {
    let from = if text.starts_with("[mem ") { "[mem ".len() } else { 0 };
    text[from..].find([' ', ',']).map_or(text.len(), |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1 << 30, "1 GiB"),
            (0x9f000, "636 KiB"),
            ((1 << 31) - 4096, "2047 MiB"),
            (3000, "3000 bytes"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }

    #[test]
    fn numbers_that_follow_each_other_are_a_run() {
        assert_eq!(Runs(&[0, 1, 2, 5, 8, 9]).to_string(), "0-2,5,8,9");
        assert_eq!(Runs(&[3, 4, 5, 0, 1, 2, u32::MAX]).to_string(), "3-5,0-2,4294967295");
        assert_eq!(Runs(&[]).to_string(), "");
    }

    #[test]
    fn long_text_is_broken_and_hangs() {
        let mut out = String::new();
        wrapped(&mut out, "start ", 6, &"word ".repeat(20)).unwrap();
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("start word") && lines[0].len() <= WIDTH);
        assert!(lines[1].starts_with("      word") && !out.contains(" \n"));
        let mut out = String::new();
        wrapped(&mut out, "", 2, &"x".repeat(100)).unwrap();
        assert_eq!(out.len(), 101);
        let mut out = String::new();
        wrapped(&mut out, "", 2, &format!("{} [mem 0x0-0x1] x", "y".repeat(70))).unwrap();
        assert!(out.ends_with("\n  [mem 0x0-0x1] x\n"), "{out}");
    }
}
