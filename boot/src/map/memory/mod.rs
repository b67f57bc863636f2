//! A memory map in a file: JSON as in a case, the text of /proc/iomem, or e820 lines of a log.

mod e820;
mod iomem;

use anyhow::{Result, bail, ensure};
use nearmem::topology::{Region, RegionKind};
use serde_json::Value;

use super::case::CaseRegion;

/// A memory map, and what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryText {
    /// Its regions, as they stand there.
    pub regions: Vec<Region>,
    /// Which form it has, as in "12 regions of /proc/iomem".
    pub form: &'static str,
    /// What a reader should know of it.
    pub remarks: Vec<String>,
}

/// Reads a memory map in any of the three forms.
///
/// # Errors
/// JSON of another shape, or text without a single region.
pub fn parse(text: &str) -> Result<MemoryText> {
    // A log begins with a bracket, too: its time stamp.
    if let Some(found) = of_text(text)? {
        return Ok(found);
    }
    if text.trim_start().starts_with(['[', '{']) {
        return from_json(text);
    }
    bail!(
        "no memory map: expected lines of /proc/iomem (`00100000-bffdffff : System RAM`), of a \
         boot log (`BIOS-e820: [mem 0x...-0x...] usable`), or JSON as in a case"
    )
}

/// The memory map in a text that may have anything else, too; `None` when it has none.
///
/// # Errors
/// It is /proc/iomem without addresses, as only root sees them.
pub fn of_text(text: &str) -> Result<Option<MemoryText>> {
    if let Some(found) = e820::parse(text) {
        return Ok(Some(found));
    }
    let regions = iomem::parse(text);
    if regions.is_empty() {
        return Ok(None);
    }
    ensure!(
        regions.iter().any(|region| region.range.end.0 > 1),
        "all addresses are 0, since /proc/iomem shows them to root only: read it again with \
         `sudo cat /proc/iomem`"
    );
    Ok(Some(MemoryText { regions, form: "/proc/iomem", remarks: Vec::new() }))
}

/// A list of regions, or an object that has one as `memory_map`.
fn from_json(text: &str) -> Result<MemoryText> {
    let mut value: Value = serde_json::from_str(text)?;
    if let Value::Object(members) = &mut value {
        let Some(map) = members.remove("memory_map") else { bail!("no member `memory_map`") };
        value = map;
    }
    let regions: Vec<CaseRegion> = serde_json::from_value(value)?;
    let regions = regions.iter().map(Region::from).collect();
    Ok(MemoryText { regions, form: "JSON", remarks: Vec::new() })
}

/// Hexadecimal digits, with or without `0x`, as a number of 64 bits.
fn hex(digits: &str) -> Option<u64> {
    let digits = digits.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    // A sign would be taken for a part of the number.
    let first = digits.bytes().next()?;
    u64::from_str_radix(digits, 16).ok().filter(|_| first.is_ascii_hexdigit())
}

fn kind_of(usable: bool) -> RegionKind {
    if usable { RegionKind::Usable } else { RegionKind::Other }
}

#[cfg(test)]
mod tests {
    use super::RegionKind::{Other, Usable};
    use super::*;

    #[test]
    fn json_is_a_list_or_a_case() {
        let list = r#"[[0, "0x1000", "usable"], [4096, 8192, "acpi"]]"#;
        let expected = [Region::new(0, 0x1000, Usable), Region::new(0x1000, 0x2000, Other)];
        assert_eq!(parse(list).unwrap().regions, expected);
        let case = format!(r#"{{"memory_map": {list}, "x": 1}}"#);
        assert_eq!(parse(&case).unwrap().regions, expected);
    }

    #[test]
    fn what_is_no_memory_map_is_an_error_that_says_what_is_expected() {
        for (text, said) in [
            ("", "expected lines of /proc/iomem"),
            ("hello", "expected lines of /proc/iomem"),
            ("[1]", "invalid type"),
            ("{}", "no member `memory_map`"),
            ("00000000-00000000 : System RAM\n  00000000-00000000 : x\n", "sudo cat /proc/iomem"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
