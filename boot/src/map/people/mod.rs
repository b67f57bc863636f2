//! The node map as a report for people: readable on 80 columns, with many nodes, too.

mod cpus;
mod distances;
mod excerpt;
mod findings;
mod grid;
mod inputs;
mod nodes;
mod ranges;
mod speeds;
mod text;
mod verdict;
mod windows;

use std::fmt::{Result, Write};

use super::build::Built;
use super::input::Input;

/// The whole report; with `records`, every record of the SRAT and every finding as well.
pub fn report(built: &Built, input: &Input, records: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, built, input, records);
    out
}

fn write(out: &mut String, built: &Built, input: &Input, records: bool) -> Result {
    inputs::write(out, built, input)?;
    if records {
        ranges::records(out, built, input)?;
    }
    nodes::write(out, built)?;
    ranges::memory(out, built)?;
    ranges::windows(out, built, input)?;
    windows::write(out, built)?;
    cpus::write(out, built)?;
    distances::write(out, built)?;
    distances::fallback_orders(out, built)?;
    speeds::write(out, built)?;
    findings::write(out, built, input, records)?;
    verdict::write(out, built, input)
}

/// A section's heading.
fn section(out: &mut dyn Write, title: &str) -> Result {
    writeln!(out, "\n{title}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::build::build;
    use crate::map::case::Number;
    use crate::map::encode;
    use crate::map::tables::{RawTable, Which};

    fn of_corpus(name: &str) -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/corpus/");
        let input = Input::of_case(format!("{folder}{name}.json").as_ref()).unwrap();
        report(&build(&input), &input, true)
    }

    fn assert_lines(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|found| found.contains(line)), "{line}\n{text}");
        }
    }

    #[test]
    fn a_report_has_tables_nodes_ranges_distances_and_findings() {
        let text = of_corpus("v31-nodes-interleaved-2-4-6-8");
        assert_lines(
            &text,
            &[
                "  SRAT  revision 2, 272 bytes, checksum right, OEM \"NEARME\" \"MAP CASE\" 1",
                "        records: 4 of CPUs, 4 of memory;",
                "     1       1   3584 MiB       2     2  2,3",
                "             [mem 0x0009f000-0x000fffff]                  388 KiB  hole",
                "             [mem 0x80000000-0xffffffff]                    2 GiB  not its own",
                "     0 at 0x30    SRAT: PXM 0 -> APIC 0x00 -> Node 0",
                "     1    20  10",
                "  note     node-interleaved",
            ],
        );
        assert!(text.ends_with("  with, 2 notes.\n"), "{text}");
    }

    #[test]
    fn a_finding_shows_the_bytes_at_its_place() {
        let text = of_corpus("v35-range-past-2-to-the-64");
        assert_lines(
            &text,
            &["  warning  srat-memory-wraps", "      00a0  01 28 02 00 00 00 00 00 "],
        );
        let text = of_corpus("v33-ranges-of-two-nodes-overlap");
        assert_lines(&text, &["Verdict: the SRAT is refused (srat-overlap): "]);
    }

    /// 64 nodes of 4 CPUs and two ranges each, two of eight sorts of distances.
    fn many_nodes() -> Input {
        let entries: Vec<_> = (0..64u64)
            .flat_map(|node| {
                let cpu = (0..4).map(move |cpu| {
                    format!(
                        r#"{{"type":"x2apic","pxm":{node},"apic_id":{},"enabled":true}}"#,
                        node * 4 + cpu * 1024
                    )
                });
                let memory = (0..2).map(move |half| {
                    let base = (half * 64 + node) << 36;
                    format!(
                        r#"{{"type":"memory","pxm":{node},"base":{base},"length":{},
                            "enabled":true,"hotplug":true}}"#,
                        1u64 << 36
                    )
                });
                cpu.chain(memory)
            })
            .collect();
        let case = format!(r#"{{"revision":3,"entries":[{}]}}"#, entries.join(","));
        let srat = encode::srat(&serde_json::from_str(&case).unwrap()).unwrap();
        let distance = |a: u32, b: u32| if a == b { 10 } else { 12 + 2 * ((a ^ b) % 8) };
        let rows: Vec<Vec<u32>> =
            (0..64).map(|a| (0..64).map(|b| distance(a, b)).collect()).collect();
        let rows: Vec<Vec<Number>> = serde_json::from_value(serde_json::json!(rows)).unwrap();
        let slit = encode::slit(&rows).unwrap();
        let mut input = Input::default();
        let from = || "a-file-with-a-rather-long-name-in-a-folder-with-a-long-name.bin".to_owned();
        input.tables.set(Which::Srat, RawTable { bytes: srat, from: from(), address: Some(0) });
        input.tables.set(Which::Slit, RawTable { bytes: slit, from: from(), address: None });
        input
    }

    #[test]
    fn no_line_is_longer_than_80_columns_with_64_nodes_or_any_case() {
        let mut reports = vec![];
        let input = many_nodes();
        reports.push(report(&build(&input), &input, true));
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/corpus/");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|end| end == "json") {
                let mut input = Input::of_case(&path).unwrap();
                // A path has no place to break.
                for which in Which::ALL {
                    if let Some(table) = input.tables.get(which).cloned() {
                        input.tables.set(which, RawTable { from: "case".into(), ..table });
                    }
                }
                if let Some(memory) = &mut input.memory {
                    memory.from = "case".into();
                }
                reports.push(report(&build(&input), &input, true));
            }
        }
        assert!(reports.len() > 40);
        for text in &reports {
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}\n{text}");
            }
        }
        assert!(reports[0].lines().count() < 1600, "{}", reports[0]);
    }
}
