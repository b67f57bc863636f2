//! Sizes of memory as people write them.

use anyhow::Result;

use crate::fault::bad_machine;

/// One KiB, MiB, GiB and TiB in bytes.
pub const KIB: u64 = 1 << 10;
/// One MiB in bytes.
pub const MIB: u64 = 1 << 20;
/// One GiB in bytes.
pub const GIB: u64 = 1 << 30;
/// One TiB in bytes.
pub const TIB: u64 = 1 << 40;

/// Reads `512M`, `3407488K`, `2G`, `1T` (powers of 1024; also `2GiB`, `2GB`, in either case); a
/// plain number is MiB, as for QEMU's `-m`. In bytes.
///
/// # Errors
/// [`crate::fault::BadMachine`]: not of that form, or 2^64 bytes and more.
pub fn parse(text: &str) -> Result<u64> {
    let word = text.trim();
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" => KIB,
        "" | "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => GIB,
        "t" | "tb" | "tib" => TIB,
        _ => return Err(bad_size(text)),
    };
    let number: u64 = number.parse().map_err(|_| bad_size(text))?;
    number.checked_mul(unit).ok_or_else(|| bad_size(text))
}

fn bad_size(text: &str) -> anyhow::Error {
    bad_machine(format!("`{text}` is no size of memory: expected a number and K, M, G or T"))
}

/// Writes bytes with the largest unit that divides them: `2G`, `3407488K`, `100 bytes`.
pub fn show(bytes: u64) -> String {
    for (unit, letter) in [(TIB, 'T'), (GIB, 'G'), (MIB, 'M'), (KIB, 'K')] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{letter}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(parse("2G").unwrap(), 2 << 30);
        assert_eq!(parse("3407488k").unwrap(), 3_489_267_712);
        assert_eq!(parse(" 16TiB ").unwrap(), 16 << 40);
        assert_eq!(parse("512").unwrap(), 512 << 20);
    }

    #[test]
    fn what_is_no_size() {
        for text in ["", "G", "-1G", "1.5G", "2X", "2 G", "99999999999T", "18446744073709551616"] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains("is no size of memory"), "{text}: {error}");
        }
    }

    #[test]
    fn shown_sizes_read_back() {
        for bytes in [2 << 30, 3_489_267_712, 5 << 40, 8192] {
            assert_eq!(parse(&show(bytes)).unwrap(), bytes);
        }
        assert_eq!(show(100), "100 bytes");
    }
}
