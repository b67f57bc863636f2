//! A memory map in a file: JSON as in a case, the text of /proc/iomem, or e820 lines of a log.

use anyhow::{Result, bail, ensure};
use nearmem::topology::{Region, RegionKind};
use serde_json::Value;

use super::case::{CaseRegion, Number};

/// Reads a memory map in any of the three forms.
///
/// # Errors
/// JSON of another shape, or text without a single region.
pub fn parse(text: &str) -> Result<Vec<Region>> {
    // A log begins with a bracket, too: its time stamp.
    let e820: Vec<Region> = text.lines().filter_map(e820_line).collect();
    if !e820.is_empty() {
        return Ok(e820);
    }
    if text.trim_start().starts_with(['[', '{']) {
        return from_json(text);
    }
    let iomem: Vec<Region> = text.lines().filter_map(iomem_line).collect();
    ensure!(!iomem.is_empty(), "no line of it is one of /proc/iomem or of an e820 map");
    ensure!(
        iomem.iter().any(|region| region.range.end.0 > 1),
        "all addresses are 0: /proc/iomem shows them to root only"
    );
    Ok(iomem)
}

/// A list of regions, or an object that has one as `memory_map`.
fn from_json(text: &str) -> Result<Vec<Region>> {
    let mut value: Value = serde_json::from_str(text)?;
    if let Value::Object(members) = &mut value {
        let Some(map) = members.remove("memory_map") else { bail!("no member `memory_map`") };
        value = map;
    }
    let regions: Vec<CaseRegion> = serde_json::from_value(value)?;
    Ok(regions.iter().map(Region::from).collect())
}

/// `BIOS-e820: [mem 0x0000000000100000-0x00000000bffdffff] usable`, or the older form
/// `BIOS-e820: 0000000000100000 - 00000000bffe0000 (usable)`, whose end is exclusive.
fn e820_line(line: &str) -> Option<Region> {
    let (_, rest) = line.split_once("e820: ")?;
    let hex = |text: &str| {
        let text = text.trim();
        u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
    };
    let (start, end, kind) = match rest.trim_start().strip_prefix("[mem ") {
        Some(rest) => {
            let (range, kind) = rest.split_once(']')?;
            let (start, last) = range.split_once('-')?;
            (hex(start)?, hex(last)?.saturating_add(1), kind.trim())
        }
        None => {
            let (range, kind) = rest.split_once('(')?;
            let (start, end) = range.split_once('-')?;
            (hex(start)?, hex(end)?, kind.trim_end().trim_end_matches(')'))
        }
    };
    Some(Region::new(start, end, kind_of(kind == "usable")))
}

/// `00100000-bffdffff : System RAM`. Indented lines are parts of others and say nothing here.
fn iomem_line(line: &str) -> Option<Region> {
    let (range, name) = line.split_once(" : ")?;
    let (start, last) = range.split_once('-')?;
    let hex = |digits: &str| Number::parse(&format!("0x{digits}")).map(|number| number.0);
    let end = hex(last)?.saturating_add(1);
    Some(Region::new(hex(start)?, end, kind_of(name.trim() == "System RAM")))
}

fn kind_of(usable: bool) -> RegionKind {
    if usable { RegionKind::Usable } else { RegionKind::Other }
}

#[cfg(test)]
mod tests {
    use super::RegionKind::{Other, Usable};
    use super::*;

    #[test]
    fn a_boot_log_is_searched_for_e820_lines() {
        let log = "\
[    0.000000] Linux version 6.1.0
[    0.000000] BIOS-provided physical RAM map:
[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009fbff] usable
[    0.000000] BIOS-e820: [mem 0x00000000bffe0000-0x00000000bfffffff] ACPI data
 BIOS-e820: 0000000100000000 - 0000000140000000 (usable)
";
        let expected = [
            Region::new(0, 0x9fc00, Usable),
            Region::new(0xbffe0000, 0xc0000000, Other),
            Region::new(0x1_0000_0000, 0x1_4000_0000, Usable),
        ];
        assert_eq!(parse(log).unwrap(), expected);
    }

    #[test]
    fn iomem_counts_at_the_left_margin_only() {
        let iomem = "\
00001000-0009fbff : System RAM
000f0000-000fffff : Reserved
  000f0000-000fffff : System ROM
00100000-bffdffff : System RAM
  01000000-01ffffff : Kernel code
";
        let expected = [
            Region::new(0x1000, 0x9fc00, Usable),
            Region::new(0xf0000, 0x100000, Other),
            Region::new(0x100000, 0xbffe0000, Usable),
        ];
        assert_eq!(parse(iomem).unwrap(), expected);
    }

    #[test]
    fn json_is_a_list_or_a_case() {
        let list = r#"[[0, "0x1000", "usable"], [4096, 8192, "acpi"]]"#;
        let expected = [Region::new(0, 0x1000, Usable), Region::new(0x1000, 0x2000, Other)];
        assert_eq!(parse(list).unwrap(), expected);
        assert_eq!(parse(&format!(r#"{{"memory_map": {list}, "x": 1}}"#)).unwrap(), expected);
    }

    #[test]
    fn what_is_no_memory_map_is_an_error() {
        for text in ["", "hello", "[1]", "{}", "00000000-00000000 : System RAM\n"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
