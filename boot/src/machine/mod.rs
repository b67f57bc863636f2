//! Machines: what QEMU is asked for, as a value.
//!
//! A machine comes from options (`--nodes 4 --mem 2G --cpus 4`, [`nodes`]), from a machine file
//! ([`mod@file`], TOML) or from a case ([`case`], JSON); tables can come from files of their own
//! ([`table_file`]). It becomes QEMU's arguments in [`arguments`].

pub mod arguments;
pub mod case;
pub mod file;
pub mod nodes;
pub mod options;
pub mod size;
pub mod table_file;

use std::path::Path;

use anyhow::Result;

use crate::acpi::Table;
use crate::fault::bad_machine;

pub use nodes::NodeSpec;

/// A machine for QEMU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// What it is called in messages.
    pub name: String,
    /// QEMU's machine type: `q35` or `pc`.
    pub chipset: String,
    /// All memory in bytes; `None` leaves it to `qemu` below, or to QEMU's default.
    pub memory: Option<u64>,
    /// Number of CPUs; `None` leaves it to `qemu` below, or to QEMU's default of one.
    pub cpus: Option<u32>,
    /// The nodes; none at all gives a machine without `-numa`, hence without an SRAT.
    pub nodes: Vec<NodeSpec>,
    /// Distances of all pairs of nodes, as the SLIT has them; empty for no SLIT.
    pub distances: Vec<Vec<u8>>,
    /// Options for QEMU as they are. They come last, so they win over ours.
    pub qemu: Vec<String>,
    /// The kernel's command line.
    pub append: String,
    /// ACPI tables beside those that QEMU makes.
    pub tables: Vec<Table>,
}

/// Tables in files, raw or those of a case; `None` is no table.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableFiles<'a> {
    /// Which CPUs and memory belong together.
    pub srat: Option<&'a Path>,
    /// Distances.
    pub slit: Option<&'a Path>,
    /// Latencies and bandwidths.
    pub hmat: Option<&'a Path>,
}

/// The least memory that the kernel comes up in: it is loaded at 16 MiB.
const LEAST_MEMORY: u64 = 24 << 20;

impl Machine {
    /// Refuses a machine in which nothing would come up, and nobody would say why.
    fn check_memory(&self) -> Result<()> {
        let memory = options::memory(&self.qemu).map(|(memory, _)| memory).or(self.memory);
        match memory {
            Some(memory) if memory < LEAST_MEMORY => Err(bad_machine(format!(
                "{} of memory are too little: the kernel needs {}",
                size::show(memory),
                size::show(LEAST_MEMORY)
            ))),
            _ => Ok(()),
        }
    }

    /// A q35 of which nothing is said yet.
    pub fn new(name: impl Into<String>) -> Machine {
        Machine {
            name: name.into(),
            chipset: "q35".into(),
            memory: None,
            cpus: None,
            nodes: Vec::new(),
            distances: Vec::new(),
            qemu: Vec::new(),
            append: String::new(),
            tables: Vec::new(),
        }
    }

    /// A q35 with these nodes and `-m` and `-smp` as they add up to.
    pub fn with_nodes(name: impl Into<String>, nodes: Vec<NodeSpec>) -> Machine {
        Machine {
            memory: Some(nodes.iter().fold(0, |sum: u64, node| sum.saturating_add(node.memory))),
            cpus: Some(nodes.iter().map(|node| node.cpus.end).max().unwrap_or(1)),
            nodes,
            ..Machine::new(name)
        }
    }

    /// Gives it the tables of these files in place of those that QEMU makes.
    ///
    /// # Errors
    /// [`BadMachine`](crate::fault::BadMachine): a file is no such table; or the machine has nodes,
    /// for which QEMU makes an SRAT, and one of the tables is an SRAT or a SLIT. QEMU makes an HMAT
    /// only when asked to (`-machine hmat=on`), so one in a file goes with nodes.
    pub fn set_table_files(&mut self, files: TableFiles<'_>) -> Result<()> {
        let TableFiles { srat, slit, hmat } = files;
        let files = [("SRAT", srat), ("SLIT", slit), ("HMAT", hmat)];
        for (signature, path) in files.into_iter().filter_map(|(name, path)| Some((name, path?))) {
            self.tables.push(table_file::load(path, signature)?);
        }
        let by_nodes = |table: &Table| matches!(&table.signature[..], "SRAT" | "SLIT");
        if self.tables.iter().any(by_nodes)
            && (!self.nodes.is_empty() || options::has(&self.qemu, "numa"))
        {
            return Err(bad_machine(
                "with nodes (-numa) QEMU makes an SRAT of its own, and that one would count: give \
                 either nodes or tables in files",
            ));
        }
        Ok(())
    }

    /// Adds words to the kernel's command line.
    pub fn add_append(&mut self, words: &str) {
        self.append = format!("{} {}", self.append, words).trim().to_owned();
    }
}

/// Reads a machine from a file: a case where its name ends in `.json`, a machine file otherwise.
///
/// # Errors
/// [`crate::fault::BadMachine`]: it cannot be read, or what it says cannot be.
pub fn load(path: &Path) -> Result<Machine> {
    let machine = match path.extension().is_some_and(|e| e == "json") {
        true => case::load(path)?,
        false => file::load(path)?.machine,
    };
    machine.check_memory()?;
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_in_which_nothing_comes_up_is_refused() {
        let machine =
            |memory: &str| Machine { qemu: vec!["-m".into(), memory.into()], ..Machine::new("m") };
        assert!(machine("24M").check_memory().is_ok());
        assert!(Machine::new("by QEMU's default").check_memory().is_ok());
        let refused = machine("16M").check_memory().unwrap_err().to_string();
        assert_eq!(refused, "16M of memory are too little: the kernel needs 24M");
    }
}
