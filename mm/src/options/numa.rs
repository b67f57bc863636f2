//! The values of `numa=`.

use super::words::number;
use crate::topology::{FakeDistances, FakeNodes, NumaOption, Split};

const ANY: &str = "off, noacpi, nohmat or fake=";
const FAKE: &str = "fake=N, fake=SIZE with M or G, or fake=N with U, and perhaps distances: \
                    a colon, then numbers from 10 to 255 with commas between them";

/// What one word of `numa=` asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numa<'a> {
    /// Which tables count.
    Tables(NumaOption),
    /// That the HMAT does not count.
    NoHmat,
    /// That nodes are split.
    Fake(FakeNodes<'a>),
}

/// Reads a value.
///
/// # Errors
/// It is none of them: what is expected.
pub fn parse(value: &str) -> Result<Numa<'_>, &'static str> {
    match (value, value.strip_prefix("fake=")) {
        ("off", _) => Ok(Numa::Tables(NumaOption::Off)),
        ("noacpi", _) => Ok(Numa::Tables(NumaOption::NoAcpi)),
        ("nohmat", _) => Ok(Numa::NoHmat),
        (_, Some(fake)) => parse_fake(fake).map(Numa::Fake).ok_or(FAKE),
        _ => Err(ANY),
    }
}

/// What stands behind `fake=` (reference: numa-discovery, section 8).
fn parse_fake(text: &str) -> Option<FakeNodes<'_>> {
    let (split, distances) = text.split_once(':').unwrap_or((text, ""));
    Some(FakeNodes { split: parse_split(split)?, distances: FakeDistances::parse(distances)? })
}

fn parse_split(text: &str) -> Option<Split> {
    let above_0 = |text: &str| number(text).filter(|&number| number > 0);
    let count = |text: &str| above_0(text).and_then(|number| u32::try_from(number).ok());
    let size = |text: &str, unit: u64| above_0(text)?.checked_mul(unit).map(Split::Size);
    match (text.strip_suffix('U'), text.strip_suffix('M'), text.strip_suffix('G')) {
        (Some(parts), ..) => count(parts).map(Split::EachNode),
        (_, Some(mib), _) => size(mib, 1 << 20),
        (_, _, Some(gib)) => size(gib, 1 << 30),
        _ => count(text).map(Split::Nodes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_three_ways_to_split_are_told_apart() {
        for (value, split) in [
            ("fake=4", Split::Nodes(4)),
            ("fake=0x10", Split::Nodes(16)),
            ("fake=4U", Split::EachNode(4)),
            ("fake=512M", Split::Size(512 << 20)),
            ("fake=2G", Split::Size(2 << 30)),
        ] {
            let fake = FakeNodes { split, distances: FakeDistances::default() };
            assert_eq!(parse(value), Ok(Numa::Fake(fake)), "{value}");
        }
    }

    #[test]
    fn distances_follow_a_colon() {
        let Ok(Numa::Fake(fake)) = parse("fake=2U:10,30,25,10") else { panic!() };
        assert_eq!(fake.split, Split::EachNode(2));
        assert_eq!(fake.distances.iter().collect::<Vec<_>>(), [10, 30, 25, 10]);
    }

    #[test]
    fn what_is_none_of_them_is_refused_with_what_is_expected() {
        let bad = ["", "0", "0U", "0M", "U", "M", "x", "4u", "512m", "4K", "-1", "1.5G", "4 U"];
        let bad = bad.into_iter().chain(["2:9", "2:10;20", "2:10:20", "4294967296"]);
        for text in bad.chain(["17179869184G", "UM", "2UM"]) {
            assert_eq!(parse(&std::format!("fake={text}")), Err(FAKE), "{text}");
        }
        for text in ["", "on", "fake", "offf"] {
            assert_eq!(parse(text), Err(ANY), "{text}");
        }
    }
}
