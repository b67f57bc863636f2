//! Machine files: machines in TOML, for people and for the test runner.
//!
//! ```toml
//! description = "two nodes, the second without CPUs"
//! nodes = 2                   # with mem and cpus: dealt to nodes as by the options
//! mem = "1G"
//! cpus = 1
//! distances = [[10, 21], [21, 10]]
//! machine = "q35"             # or "pc"
//! qemu = ["-device", "edu"]   # more options for QEMU; topology, too, where `nodes` is not given
//! srat = "a/srat.bin"         # raw tables in files, or cases (.json), for a machine without nodes;
//! slit = "a/slit.bin"         # paths are relative to the workspace's root
//! hmat = "a/hmat.bin"         # a raw table, also with nodes, for which QEMU makes none by itself
//! append = "hashdist=1"       # the kernel's command line
//! suites = ["nodes"]          # what the test runner runs on it
//! ```
//!
//! The test runner has some keys more: `skip`, `expect_findings`, `expect_log`.
//!
//! Every key may be left out. Without `nodes` there is no `-numa`, hence no SRAT, unless `qemu`
//! has it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Machine, TableFiles, nodes, size};
use crate::fault::bad_machine;
use crate::workspace;

/// The default memory of a machine that has nodes but no `mem`, in bytes.
pub const DEFAULT_MEMORY: u64 = 2 * size::GIB;

/// A machine file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineFile {
    /// The machine; its name is the file's, without the ending.
    pub machine: Machine,
    /// One line for people.
    pub description: String,
    /// The test suites to run on it; empty where the file does not say.
    pub suites: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    description: String,
    machine: Option<String>,
    nodes: Option<u32>,
    mem: Option<String>,
    cpus: Option<u32>,
    #[serde(default)]
    distances: Vec<Vec<u8>>,
    #[serde(default)]
    qemu: Vec<String>,
    srat: Option<PathBuf>,
    slit: Option<PathBuf>,
    hmat: Option<PathBuf>,
    #[serde(default)]
    append: String,
    #[serde(default)]
    suites: Vec<String>,
    // What the test runner reads for itself.
    #[serde(default, rename = "skip")]
    _skip: IgnoredAny,
    #[serde(default, rename = "expect_findings")]
    _expect_findings: IgnoredAny,
    #[serde(default, rename = "expect_log")]
    _expect_log: IgnoredAny,
}

/// Reads a machine file.
///
/// # Errors
/// [`crate::fault::BadMachine`]: it cannot be read, or what it says cannot be.
pub fn load(path: &Path) -> Result<MachineFile> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| bad_machine(format!("{shown}: {e}")))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    parse(&name, &text).with_context(|| shown.to_string())
}

/// Reads a machine file's text.
///
/// # Errors
/// As [`load`].
pub fn parse(name: &str, text: &str) -> Result<MachineFile> {
    let keys: Keys = toml::from_str(text)
        .map_err(|e| bad_machine(format!("no machine file: {}", e.message())))?;
    let memory = keys.mem.as_deref().map(size::parse).transpose()?;
    let mut machine = match keys.nodes {
        Some(count) => {
            let memory = memory.unwrap_or(DEFAULT_MEMORY);
            let cpus = keys.cpus.unwrap_or(count);
            Machine::with_nodes(name, nodes::spread(count, memory, cpus)?)
        }
        None => Machine { memory, cpus: keys.cpus, ..Machine::new(name) },
    };
    match keys.machine.as_deref() {
        None => {}
        Some(chipset @ ("q35" | "pc")) => machine.chipset = chipset.to_owned(),
        Some(other) => return Err(bad_machine(format!("machine `{other}`: expected q35 or pc"))),
    }
    check_distances(&keys.distances, machine.nodes.len())?;
    machine.distances = keys.distances;
    machine.qemu = keys.qemu;
    machine.append = keys.append;
    let at_root = |path: PathBuf| workspace::root().join(path);
    let [srat, slit, hmat] = [keys.srat, keys.slit, keys.hmat].map(|path| path.map(at_root));
    let (srat, slit, hmat) = (srat.as_deref(), slit.as_deref(), hmat.as_deref());
    machine.set_table_files(TableFiles { srat, slit, hmat })?;
    Ok(MachineFile { machine, description: keys.description, suites: keys.suites })
}

/// Distances have to be a square over the nodes, with 10 on its diagonal and no less elsewhere.
fn check_distances(rows: &[Vec<u8>], nodes: usize) -> Result<()> {
    let square = rows.len() == nodes && rows.iter().all(|row| row.len() == nodes);
    if !rows.is_empty() && !square {
        return Err(bad_machine(format!("distances: expected {nodes} rows of {nodes} numbers")));
    }
    for (from, row) in rows.iter().enumerate() {
        for (to, &distance) in row.iter().enumerate() {
            if distance < 10 || (from == to && distance != 10) {
                return Err(bad_machine(format!(
                    "distance {distance} from node {from} to {to}: a node is at 10 from itself, \
                     and no other is nearer"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_dealt_as_by_the_options() {
        let file = parse(
            "two",
            r#"description = "d"
               nodes = 2
               mem = "1G"
               cpus = 1
               machine = "pc"
               distances = [[10, 21], [21, 10]]
               append = "hashdist=0"
               suites = ["topology"]
               skip = ["a::b"]
               expect_findings = []
               expect_log = []"#,
        )
        .unwrap();
        assert_eq!(file.machine.nodes, nodes::spread(2, size::GIB, 1).unwrap());
        assert_eq!(file.machine.chipset, "pc");
        assert_eq!(file.machine.cpus, Some(1));
        assert_eq!((file.description.as_str(), file.suites.len()), ("d", 1));
        assert_eq!(file.machine.append, "hashdist=0");
    }

    #[test]
    fn no_nodes_no_numa() {
        let machine = parse("flat", "mem = \"512M\"\nqemu = [\"-smp\", \"2\"]").unwrap().machine;
        assert!(machine.nodes.is_empty());
        assert_eq!((machine.memory, machine.cpus), (Some(512 << 20), None));
        assert_eq!(machine.qemu, ["-smp", "2"]);
    }

    #[test]
    fn tables_are_named_from_the_root() {
        let corpus = "tests/data/corpus/v01-two-socket-rev1";
        let text = format!("mem = \"1G\"\nsrat = \"{corpus}.srat.bin\"\nslit = \"{corpus}.json\"");
        let machine = parse("v01", &text).unwrap().machine;
        let signatures: Vec<_> = machine.tables.iter().map(|table| &table.signature[..]).collect();
        assert_eq!(signatures, ["SRAT", "SLIT"]);
        assert!(
            machine.tables.iter().all(|table| table.bytes.starts_with(table.signature.as_bytes()))
        );
        let slit = std::fs::read(workspace::root().join(format!("{corpus}.slit.bin"))).unwrap();
        assert_eq!(machine.tables[1].bytes, slit);
    }

    #[test]
    fn an_hmat_goes_with_nodes() {
        let text = "nodes = 3\nhmat = \"tests/data/hmat/revision-1.hmat.bin\"";
        let machine = parse("x", text).unwrap().machine;
        let signatures: Vec<_> = machine.tables.iter().map(|table| &table.signature[..]).collect();
        assert_eq!((signatures, machine.nodes.len()), (vec!["HMAT"], 3));
    }

    #[test]
    fn what_cannot_be() {
        for (text, said) in [
            ("nodes = ", "no machine file"),
            ("node = 2", "unknown field `node`"),
            ("nodes = -1", "no machine file"),
            ("nodes = 0", "0 nodes"),
            ("nodes = 2\nmem = \"1M\"", "too little"),
            ("nodes = 2\nmem = \"big\"", "is no size"),
            ("machine = \"microvm\"", "expected q35 or pc"),
            ("nodes = 2\ndistances = [[10, 20]]", "expected 2 rows of 2"),
            ("nodes = 2\ndistances = [[10, 9], [20, 10]]", "distance 9 from node 0 to 1"),
            ("nodes = 1\ndistances = [[20]]", "distance 20 from node 0 to 0"),
            ("distances = [[10]]", "expected 0 rows"),
            ("srat = \"Cargo.toml\"", "expected a raw table"),
            ("hmat = \"tests/data/corpus/v41-slit-cut-short.json\"", "the case has none"),
            ("slit = \"nowhere.bin\"", "nowhere.bin: No such file"),
            ("nodes = 1\nslit = \"tests/data/corpus/v41-slit-cut-short.json\"", "either nodes or"),
        ] {
            let error = parse("x", text).expect_err(text);
            assert!(error.is::<crate::fault::BadMachine>());
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }
}
