//! Numbers from bytes that are there, and what a line of text must be.

use std::fmt::Display;

/// Two bytes.
pub fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

/// Four bytes.
pub fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Eight bytes.
pub fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// One line without control characters, whatever the bytes.
pub fn check_line(line: &dyn Display) {
    let text = line.to_string();
    assert!(!text.is_empty() && !text.chars().any(char::is_control), "{text:?}");
}

/// Records that follow each other from `first` to `end`: each has its offset, its number, and
/// its length; `None` for one behind which there is no way on.
pub fn check_contiguous(
    records: impl Iterator<Item = (u32, u32, Option<usize>)>,
    first: usize,
    end: usize,
) {
    let mut at = first;
    for (expected, (offset, number, length)) in records.enumerate() {
        assert!(at < end, "a record behind the end");
        assert_eq!((offset as usize, number as usize), (at, expected));
        at = length.map_or(end, |length| at + length);
    }
    assert!(at >= end, "the walk ended at {at} of {end}");
}
