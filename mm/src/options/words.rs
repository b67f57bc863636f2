//! The words of a command line, and the numbers in them.

/// The options of a command line: `name`, or `name=value`. Words are separated by white space; in
/// double quotes white space is part of a word, as in Linux.
pub fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = line;
    core::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut quoted = false;
        let end = rest.find(|c: char| {
            quoted ^= c == '"';
            c.is_whitespace() && !quoted
        });
        let (word, tail) = rest.split_at(end.unwrap_or(rest.len()));
        rest = tail;
        Some(match word.split_once('=') {
            Some((name, value)) => Word { name, value: Some(value.trim_matches('"')) },
            None => Word { name: word, value: None },
        })
    })
}

/// One option as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word<'a> {
    /// What stands before the `=`.
    pub name: &'a str,
    /// What stands behind it; `None` without a `=`.
    pub value: Option<&'a str>,
}

/// A number as Linux reads it: decimal, `0x` hexadecimal, or octal with a leading 0. Nothing may
/// follow it.
pub fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix('0') {
        None | Some("") => (text, 10),
        Some(rest) => match rest.strip_prefix(['x', 'X']) {
            Some(hex) => (hex, 16),
            None => (rest, 8),
        },
    };
    // A sign is no digit of a size.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// A number of bytes: a [`number`] that K, M, G or T may follow, in either case, as powers of 1024.
/// `None` when it is anything else, or does not fit in 64 bits.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| "kKmMgGtT".contains(c));
    let unit = match text.strip_prefix(digits)? {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return None,
    };
    number(digits)?.checked_mul(1 << unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn words_are_split_at_white_space_outside_quotes() {
        let all: Vec<_> =
            words("  quiet a=1 b=\"x y\"\tc= d=e=f").map(|w| (w.name, w.value)).collect();
        assert_eq!(
            all,
            [
                ("quiet", None),
                ("a", Some("1")),
                ("b", Some("x y")),
                ("c", Some("")),
                ("d", Some("e=f"))
            ]
        );
    }

    #[test]
    fn numbers_have_the_base_that_their_prefix_says() {
        for (text, value) in [
            ("0", Some(0)),
            ("4194304", Some(4194304)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("", None),
            ("0x", None),
            ("08", None),
            ("1k", None),
            ("-1", None),
            ("+1", None),
            ("0x+1", None),
            ("18446744073709551616", None),
        ] {
            assert_eq!(number(text), value, "{text:?}");
        }
    }

    #[test]
    fn sizes_have_a_unit_or_none() {
        for (text, value) in [
            ("4096", Some(4096)),
            ("0x9fc00", Some(0x9fc00)),
            ("640k", Some(640 << 10)),
            ("0x10M", Some(16 << 20)),
            ("3G", Some(3 << 30)),
            ("2t", Some(2 << 40)),
            ("010K", Some(8 << 10)),
            ("0", Some(0)),
            ("16777216T", None),
            ("0x1E", Some(0x1e)),
            ("", None),
            ("G", None),
            ("1P", None),
            ("1GB", None),
            ("1.5G", None),
            ("-1G", None),
            ("1 G", None),
            ("1\u{c4}", None),
        ] {
            assert_eq!(size(text), value, "{text:?}");
        }
    }
}
