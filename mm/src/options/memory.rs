//! `memmap=` and `mem=`: words of the command line -> changes of the memory map.
//!
//! `memmap=exactmap` forgets the firmware's map; `SIZE@START` is usable, `SIZE$START` reserved,
//! `SIZE#START` ACPI's; `SIZE` alone, and `mem=SIZE`, leave out what is above. Commas separate
//! several in one word, and words add up in their order, as in Linux.

use super::words::{Word, size, words};
use crate::topology::{Change, Region, RegionKind};
use crate::units::PhysAddr;

/// The user's changes of the memory map.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserMap<'a> {
    line: &'a str,
}

impl<'a> UserMap<'a> {
    /// The changes that a command line asks for.
    pub fn new(line: &'a str) -> UserMap<'a> {
        UserMap { line }
    }

    /// The changes in their order; what is malformed is left out.
    pub fn changes(self) -> impl Iterator<Item = Change> + 'a {
        words(self.line).flat_map(items).filter_map(|item| change(item).ok())
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.changes().next().is_none()
    }
}

/// Whether it is one of these options' names.
pub(super) fn is_name(name: &str) -> bool {
    matches!(name, "memmap" | "mem")
}

/// The malformed items of a word, each with what is expected.
pub(super) fn faults<'a>(word: Word<'a>) -> impl Iterator<Item = (Word<'a>, &'static str)> {
    items(word).filter_map(|item| Some((item, change(item).err()?)))
}

/// The items of a word, each as a word of its own; none of a word with another name.
fn items<'a>(word: Word<'a>) -> impl Iterator<Item = Word<'a>> {
    let values = word.value.unwrap_or_default().split(move |c| c == ',' && word.name == "memmap");
    values
        .filter(move |_| is_name(word.name))
        .map(move |value| Word { name: word.name, value: word.value.map(|_| value) })
}

fn change(item: Word<'_>) -> Result<Change, &'static str> {
    let value = item.value.unwrap_or_default();
    match item.name {
        "mem" => limit(value).ok_or("a size above 0, as 512M"),
        _ if value == "exactmap" => Ok(Change::Exact),
        _ => {
            let change = region(value).map(Change::Add).or_else(|| limit(value));
            change.ok_or("exactmap, SIZE, SIZE@START, SIZE$START or SIZE#START")
        }
    }
}

fn limit(value: &str) -> Option<Change> {
    size(value).filter(|&bytes| bytes > 0).map(|bytes| Change::Limit(PhysAddr(bytes)))
}

/// An end beyond 64 bits is cut there.
fn region(value: &str) -> Option<Region> {
    let at = value.find(['@', '$', '#'])?;
    let (bytes, mark_and_start) = value.split_at(at);
    let start = size(mark_and_start.get(1..)?)?;
    let kind = match mark_and_start.starts_with('@') {
        true => RegionKind::Usable,
        false => RegionKind::Other,
    };
    Some(Region::new(start, start.saturating_add(size(bytes)?), kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Change::{Add, Exact, Limit};
    use RegionKind::{Other, Usable};
    use std::vec::Vec;

    fn changes(line: &str) -> Vec<Change> {
        UserMap::new(line).changes().collect()
    }

    #[test]
    fn words_and_items_add_up_in_their_order() {
        assert_eq!(
            changes("memmap=exactmap,0x9fc00@0,1G@1M numa=off mem=2G memmap=64K#0x3ff00000"),
            [
                Exact,
                Add(Region::new(0, 0x9fc00, Usable)),
                Add(Region::new(1 << 20, (1 << 20) + (1 << 30), Usable)),
                Limit(PhysAddr(2 << 30)),
                Add(Region::new(0x3ff0_0000, 0x3ff1_0000, Other)),
            ]
        );
        assert_eq!(
            changes("memmap=3G memmap=16M$1T"),
            [Limit(PhysAddr(3 << 30)), Add(Region::new(1 << 40, (1 << 40) + (16 << 20), Other))]
        );
    }

    #[test]
    fn an_end_beyond_64_bits_is_cut() {
        let region = Region::new(u64::MAX - 1, u64::MAX, Usable);
        assert_eq!(changes("memmap=1G@0xfffffffffffffffe"), [Add(region)]);
    }

    #[test]
    fn what_is_malformed_is_left_out_and_named() {
        for item in [
            "",
            "exact",
            "exactmap1",
            "0",
            "1G@",
            "@1G",
            "1G@1G@1G",
            "1G@x",
            "x$1G",
            "1G!1G",
            "1G%",
            "1G@-1",
            "20000000T@0",
            "1G\u{20ac}",
        ] {
            let line = std::format!("memmap={item},1M@1M");
            assert_eq!(changes(&line).len(), 1, "{item:?}");
            let word = words(&line).next().unwrap();
            let named: Vec<_> = faults(word).map(|(word, _)| word.value).collect();
            assert_eq!(named, [Some(item)]);
        }
        assert!(changes("mem=1G,2G mem=nopentium mem memmap mems=1G").is_empty());
    }
}
