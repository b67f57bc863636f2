//! Functions and lines of source for instructions, by binutils' `addr2line`, where it is there.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Report;
use super::table::Names;
use crate::workspace;

/// The names of all instructions that touch other nodes' memory. None at all without `addr2line`.
pub fn names(report: &Report, elf: &Path) -> Names {
    let sites = report.regions.iter().flat_map(|region| &region.remote);
    let mut instructions: Vec<u64> = sites.map(|site| site.pc).collect();
    instructions.sort_unstable();
    instructions.dedup();
    if instructions.is_empty() {
        return Names::new();
    }
    let mut command = Command::new("addr2line");
    command.args(["-a", "-f", "-i", "-C", "-p", "-e"]).arg(elf);
    command.args(instructions.iter().map(|pc| format!("{pc:#x}")));
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    parse(&String::from_utf8_lossy(&text), &format!("{}/", workspace::root().display()))
}

/// What is inlined from here says as little as the standard library does.
const LITTLE: &str = "mm/src/sync/";

/// Of each instruction the innermost function of ours that says something: with its source below
/// `root`, where the standard library is not.
fn parse(text: &str, root: &str) -> Names {
    let mut names = Names::new();
    let mut instruction = None;
    for line in text.lines() {
        let frame = match line.trim_start().strip_prefix("(inlined by) ") {
            Some(frame) => frame,
            None => {
                let Some((pc, frame)) = line.split_once(": ") else { continue };
                instruction = u64::from_str_radix(pc.trim_start_matches("0x"), 16).ok();
                frame
            }
        };
        let (Some(pc), Some((function, source))) = (instruction, frame.split_once(" at ")) else {
            continue;
        };
        let source = source.strip_prefix(root);
        if let Some(source) = source.filter(|source| !source.starts_with(LITTLE)) {
            let source = source.split(" (").next().unwrap_or(source);
            names.entry(pc).or_insert_with(|| format!("{} at {source}", short(function)));
        }
    }
    names
}

/// The last two parts of a function's path, without types.
fn short(function: &str) -> &str {
    let path = function.rsplit(">::").next().unwrap_or(function);
    let path = path.split('<').next().unwrap_or(path);
    let start = path.rmatch_indices("::").nth(1).map_or(0, |(at, separator)| at + separator.len());
    &path[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_frame_of_ours_counts() {
        let text = [
            "0x0000000000000010: core::cell::get at /rust/core/cell.rs:5",
            " (inlined by) nearmem::sync::get at /w/mm/src/sync/local_word.rs:1",
            " (inlined by) nearmem::pageset::Pageset::pop at /w/mm/src/a.rs:7 (discriminator 2)",
            " (inlined by) nearmem::f at /w/mm/src/b.rs:9",
            "0x0000000000000020: ?? at ??:0",
            "0x0000000000000028: nearmem::pin<nearmem::P> at /w/mm/src/c.rs:3",
            "0x0000000000000030: <a::B as c::D>::e at /w/k.rs:1",
        ];
        let names = parse(&text.join("\n"), "/w/");
        let expected = [
            (0x10, "Pageset::pop at mm/src/a.rs:7"),
            (0x28, "nearmem::pin at mm/src/c.rs:3"),
            (0x30, "e at k.rs:1"),
        ];
        assert_eq!(names, expected.map(|(pc, name)| (pc, name.to_owned())).into());
        assert!(parse("", "/w/").is_empty());
    }
}
