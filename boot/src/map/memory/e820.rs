//! e820 lines of a boot log -> regions.
//!
//! `BIOS-e820: [mem 0x0000000000100000-0x00000000bffdffff] usable`, with whatever stands in front,
//! or the older `BIOS-e820: 0000000000100000 - 00000000bffe0000 (usable)`, whose end is exclusive.
//! Then what Linux changes: `e820: update [mem ...] usable ==> reserved`, `e820: remove [mem ...]
//! usable`. The map that a user gives (`user: [mem ...]`) is not the firmware's and not used.

use nearmem::PhysRange;
use nearmem::topology::Region;

use super::{MemoryText, hex, kind_of};

/// A range and the log's word for it.
type Named<'a> = (PhysRange, &'a str);

/// The map of a log's last boot; `None` when there is no line of one.
pub fn parse(text: &str) -> Option<MemoryText> {
    let mut map = Map::default();
    for line in text.lines() {
        map.line(line);
    }
    if map.ranges.is_empty() {
        return None;
    }
    let mut remarks = Vec::new();
    if map.boots > 1 {
        remarks.push(format!("the log has {} boots: the last one counts", map.boots));
    }
    if map.by_user {
        remarks.push("the log's memory map by the user is not used: give it with --memmap".into());
    }
    let region = |(range, word): Named<'_>| Region { range, kind: kind_of(is_memory(word)) };
    let regions = map.ranges.into_iter().map(region).collect();
    Some(MemoryText { regions, form: "an e820 log", remarks })
}

#[derive(Default)]
struct Map<'a> {
    ranges: Vec<Named<'a>>,
    boots: u32,
    by_user: bool,
}

impl<'a> Map<'a> {
    fn line(&mut self, line: &'a str) {
        if line.contains("BIOS-provided physical RAM map") {
            self.ranges.clear();
            self.boots += 1;
        } else if let Some((_, rest)) = line.split_once("BIOS-e820: ") {
            self.ranges.extend(range_and_rest(rest).map(|(range, rest)| (range, word(rest))));
        } else if let Some((_, rest)) = either(line, "e820: update ", "e820 update range: ") {
            if let Some((range, rest)) = range_and_rest(rest)
                && let Some((from, to)) = rest.split_once("==>")
            {
                self.change(range, word(from), Some(word(to)));
            }
        } else if let Some((_, rest)) = either(line, "e820: remove ", "e820 remove range: ") {
            if let Some((range, rest)) = range_and_rest(rest) {
                self.change(range, word(rest), None);
            }
        } else if line.contains(" user: [mem ") || line.starts_with("user: [mem ") {
            self.by_user = true;
        }
    }

    /// What is `from` in this range becomes `to`, or nothing.
    fn change(&mut self, range: PhysRange, from: &str, to: Option<&'a str>) {
        if to.is_some_and(|to| same(from, to)) {
            return;
        }
        let ranges = std::mem::take(&mut self.ranges);
        for (old, name) in ranges {
            let both = old.intersect(range);
            if !same(name, from) || both.is_empty() {
                self.ranges.push((old, name));
                continue;
            }
            let below = PhysRange { start: old.start, end: both.start };
            let above = PhysRange { start: both.end, end: old.end };
            let rest = [below, above].into_iter().filter(|part| !part.is_empty());
            self.ranges.extend(rest.map(|part| (part, name)));
            self.ranges.extend(to.map(|to| (both, to)));
        }
    }
}

fn either<'a>(line: &'a str, new: &str, old: &str) -> Option<(&'a str, &'a str)> {
    line.split_once(new).or_else(|| line.split_once(old))
}

/// `[mem FIRST-LAST]`, or `START - END` up to a bracket.
fn range_and_rest(text: &str) -> Option<(PhysRange, &str)> {
    if let Some(text) = text.trim_start().strip_prefix("[mem ") {
        let (range, rest) = text.split_once(']')?;
        let (start, last) = range.split_once('-')?;
        return Some((PhysRange::new(hex(start)?, hex(last)?.saturating_add(1)), rest));
    }
    let at = text.find('(')?;
    let (range, rest) = text.split_at(at);
    let (start, end) = range.split_once('-')?;
    Some((PhysRange::new(hex(start)?, hex(end)?), rest))
}

/// The kind of memory, without brackets.
fn word(text: &str) -> &str {
    text.trim().trim_start_matches('(').trim_end_matches(')')
}

fn same(one: &str, other: &str) -> bool {
    one == other || (is_memory(one) && is_memory(other))
}

/// Newer logs say `System RAM`.
fn is_memory(word: &str) -> bool {
    word.split_whitespace().any(|word| word == "usable") || word.ends_with("System RAM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmem::topology::RegionKind::{Other, Usable};

    fn regions(text: &str) -> Vec<Region> {
        parse(text).map(|found| found.regions).unwrap_or_default()
    }

    #[test]
    fn a_boot_log_is_searched_for_e820_lines() {
        let log = "\
[    0.000000] Linux version 6.1.0
[    0.000000] BIOS-provided physical RAM map:
[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009fbff] usable
kern  :info  : [Fri Apr  7 00:04:12 2023] BIOS-e820: [mem 0xbffe0000-0xbfffffff] ACPI data\r
Apr 07 host kernel: BIOS-e820: [mem 0x00000000c0000000-0x00000000c0000fff] unusable
[    0.000000] reserve setup_data: [mem 0x0000000000000000-0x000000000009fbff] usable
[    0.052000] e820: [mem 0xc0000000-0xfeffbfff] available for PCI devices
 BIOS-e820: 0000000100000000 - 0000000140000000 (usable)
";
        let expected = [
            Region::new(0, 0x9fc00, Usable),
            Region::new(0xbffe0000, 0xc0000000, Other),
            Region::new(0xc0000000, 0xc0001000, Other),
            Region::new(0x1_0000_0000, 0x1_4000_0000, Usable),
        ];
        assert_eq!(regions(log), expected);
    }

    #[test]
    fn updates_and_removals_are_done_in_their_order() {
        let log = "\
BIOS-e820: [mem 0x0000000000000000-0x00000000000fffff] usable
e820: update [mem 0x00000000-0x00000fff] usable ==> reserved
e820: remove [mem 0x000a0000-0x000fffff] usable
e820: update [mem 0x00002018-0x00002fff] usable ==> usable
e820 update range: 0000000000003000 - 0000000000004000 (usable) ==> (reserved)
";
        let mut expected = [
            Region::new(0, 0x1000, Other),
            Region::new(0x1000, 0x3000, Usable),
            Region::new(0x3000, 0x4000, Other),
            Region::new(0x4000, 0xa0000, Usable),
        ];
        let mut found = regions(log);
        found.sort_by_key(|region| region.range.start);
        assert_eq!(found, expected);
        // What is reserved again counts as memory again.
        let undone = log.to_owned() + "e820: update [mem 0x0-0xfff] reserved ==> usable\n";
        expected[0].kind = Usable;
        let mut found = regions(&undone);
        found.sort_by_key(|region| region.range.start);
        assert_eq!(found, expected);
    }

    #[test]
    fn of_several_boots_the_last_counts_and_the_users_map_never() {
        let log = "\
BIOS-provided physical RAM map:
BIOS-e820: [mem 0x0000000000000000-0x00000000000fffff] usable
e820: BIOS-provided physical RAM map:
BIOS-e820: [mem 0x0000000000000000-0x0000000000000fff] System RAM
user-defined physical RAM map:
[    0.000000] user: [mem 0x0000000000000000-0x00000000000007ff] usable
";
        let found = parse(log).unwrap();
        assert_eq!(found.regions, [Region::new(0, 0x1000, Usable)]);
        assert!(found.remarks[0].contains("2 boots") && found.remarks[1].contains("--memmap"));
    }

    #[test]
    fn broken_lines_are_passed_over() {
        for line in [
            "BIOS-e820: [mem 0x0000",
            "BIOS-e820: [mem 0x0-] usable",
            "BIOS-e820: [mem +1-0x5] usable",
            "BIOS-e820: 0 - ",
            "e820: update [mem 0x0-0xfff] usable ==> reserved",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
