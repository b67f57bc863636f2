//! The text of /proc/iomem -> regions.
//!
//! `00100000-bffdffff : System RAM`. Indented lines are parts of others and say nothing here. Where
//! the whole text is indented, as in a quotation, the least indentation is the margin.

use nearmem::topology::Region;

use super::{hex, kind_of};

/// The regions at the margin; none when the text is something else.
pub fn parse(text: &str) -> Vec<Region> {
    let lines = || text.lines().filter_map(line);
    let Some(margin) = lines().map(|(indent, _)| indent).min() else { return Vec::new() };
    lines().filter(|&(indent, _)| indent == margin).map(|(_, region)| region).collect()
}

/// A line's indentation and region.
fn line(text: &str) -> Option<(usize, Region)> {
    let bare = text.trim_start_matches([' ', '\t', '>']);
    let (range, name) = bare.split_once(" : ")?;
    let (start, last) = range.split_once('-')?;
    let end = hex(last)?.saturating_add(1);
    let region = Region::new(hex(start)?, end, kind_of(name.trim() == "System RAM"));
    Some((text.len() - bare.len(), region))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmem::topology::RegionKind::{Other, Usable};

    const IOMEM: &str = "\
00001000-0009fbff : System RAM
000f0000-000fffff : Reserved
  000f0000-000fffff : System ROM
00100000-bffdffff : System RAM
  01000000-01ffffff : Kernel code
100000000-23fffffff : System RAM
";

    #[test]
    fn only_what_is_at_the_margin_counts() {
        let expected = [
            Region::new(0x1000, 0x9fc00, Usable),
            Region::new(0xf0000, 0x100000, Other),
            Region::new(0x100000, 0xbffe0000, Usable),
            Region::new(0x1_0000_0000, 0x2_4000_0000, Usable),
        ];
        assert_eq!(parse(IOMEM), expected);
        assert_eq!(parse(&IOMEM.replace('\n', "\r\n")), expected);
        let quoted: String = IOMEM.lines().map(|line| format!("> {line}\n")).collect();
        assert_eq!(parse(&format!("He wrote:\n{quoted}")), expected);
    }

    #[test]
    fn memory_that_is_part_of_another_region_does_not_count() {
        let text = "100000000-1ffffffff : dax0.0\n  100000000-1ffffffff : System RAM (kmem)\n";
        assert_eq!(parse(text), [Region::new(0x1_0000_0000, 0x2_0000_0000, Other)]);
    }

    #[test]
    fn other_text_has_no_regions() {
        let text = "time: 10-20 : x y\nfoo-bar : System RAM\n+1-2 : System RAM";
        assert_eq!(parse(text), []);
    }
}
