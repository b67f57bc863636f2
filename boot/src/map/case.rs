//! A case in JSON: a machine's memory map and its tables, entry by entry.

use std::fmt;

use nearmem::topology::{Region, RegionKind};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// A case. Members that say where it comes from, or what is expected, are passed over.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// The firmware's memory map.
    pub memory_map: Option<Vec<CaseRegion>>,
    /// The SRAT.
    pub srat: Option<CaseSrat>,
    /// The SLIT, row by row.
    pub slit: Option<Vec<Vec<Number>>>,
}

/// `[start, end, "usable"]`, the end exclusive; any other word is not usable.
#[derive(Debug, Deserialize)]
pub struct CaseRegion(Number, Number, String);

impl From<&CaseRegion> for Region {
    fn from(CaseRegion(start, end, kind): &CaseRegion) -> Region {
        let kind = if kind == "usable" { RegionKind::Usable } else { RegionKind::Other };
        Region::new(start.0, end.0, kind)
    }
}

/// An SRAT, entry by entry.
#[derive(Debug, Deserialize)]
pub struct CaseSrat {
    /// Revision of the table.
    pub revision: Number,
    /// In table order.
    pub entries: Vec<CaseEntry>,
}

/// An entry of an SRAT.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CaseEntry {
    /// Type 0.
    Lapic { pxm: Number, apic_id: Number, enabled: bool },
    /// Type 2.
    X2apic { pxm: Number, apic_id: Number, enabled: bool },
    /// Type 1.
    Memory {
        pxm: Number,
        base: Number,
        length: Number,
        enabled: bool,
        #[serde(default)]
        hotplug: bool,
        #[serde(default)]
        nonvolatile: bool,
    },
    /// Type 5.
    GenericInitiator { pxm: Number, enabled: bool },
    /// Another type: that many bytes, all 0 behind type and length.
    Unknown { raw_type: Number, length: Number },
    /// Not to be made of entries: the table lies beside the case.
    Malformed { kind: String },
}

/// A number, as an integer or as text like `"0x100000"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number(pub u64);

impl Number {
    /// Reads text: hexadecimal with `0x`, decimal without.
    pub fn parse(text: &str) -> Option<Number> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let value = match digits {
            Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
            Some(_) => None,
            None => text.parse().ok(),
        };
        value.map(Number)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of 0 or more, or text like \"0x1000\"")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        Number::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_integers_or_hexadecimal_text() {
        let read = |text: &str| serde_json::from_str::<Number>(text).ok().map(|number| number.0);
        assert_eq!(read("17"), Some(17));
        assert_eq!(read("\"0xffffffffffffffff\""), Some(u64::MAX));
        assert_eq!(read("\"12\""), Some(12));
        for text in ["-1", "1.5", "\"0x\"", "\"0x+1\"", "\"0x10000000000000000\"", "null"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn an_entry_of_an_unknown_sort_is_an_error() {
        let entry = serde_json::from_str::<CaseEntry>(r#"{"type": "gicc", "pxm": 0}"#);
        assert!(entry.unwrap_err().to_string().contains("gicc"));
    }
}
