//! `run`, and what happens without a command: boots one machine and prints what the kernel says.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::locality::LocalityArgs;
use super::options::QemuOptions;
use crate::machine::{self, Machine, TableFiles, file::DEFAULT_MEMORY, nodes, options, size};
use crate::qemu::{self, BootRequest, Outcome, command};
use crate::scratch::Scratch;
use crate::setup::progress::say;
use crate::{build, setup};

/// Nodes where no number is given.
const DEFAULT_NODES: u32 = 4;
/// CPUs where no number is given.
const DEFAULT_CPUS: u32 = 4;

#[derive(Debug, Clone, Args)]
pub(super) struct RunArgs {
    /// Memory nodes, 1 to 128 [default: 4]
    #[arg(long, value_name = "N", conflicts_with = "machine")]
    nodes: Option<u32>,
    /// Memory of all nodes together, as 512M or 2G; dealt evenly [default: 2G]
    #[arg(long, value_name = "SIZE", conflicts_with = "machine")]
    mem: Option<String>,
    /// CPUs, dealt to the nodes in blocks; some nodes get none where they are few [default: 4]
    #[arg(long, value_name = "N", conflicts_with = "machine")]
    cpus: Option<u32>,
    /// Words for the kernel's command line, as "hashdist=0 numa=off"; may be given several times
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    append: Vec<String>,
    /// A machine file (TOML), or a case (.json)
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Boot with this SRAT, raw with its header, or a corpus case's (.json); there are no nodes then
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machine", "nodes"])]
    srat: Option<PathBuf>,
    /// Boot with this SLIT, likewise
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machine", "nodes"])]
    slit: Option<PathBuf>,
    /// Boot with this HMAT, raw with its header; also with nodes
    #[arg(long, value_name = "FILE")]
    hmat: Option<PathBuf>,
    #[command(flatten)]
    locality: LocalityArgs,
    #[command(flatten)]
    options: QemuOptions,
    /// Print QEMU's command line instead of running it
    #[arg(long)]
    dry_run: bool,
    /// Options for QEMU; they win over ours, and -numa among them replaces our nodes
    #[arg(last = true, value_name = "QEMU OPTIONS")]
    qemu: Vec<String>,
}

impl RunArgs {
    /// The machine that the options ask for.
    fn machine(&self) -> Result<Machine> {
        let mut machine = match &self.machine {
            Some(path) => machine::load(path)?,
            None => self.machine_of_options()?,
        };
        machine.qemu.extend_from_slice(&self.qemu);
        let (srat, slit, hmat) = (self.srat.as_deref(), self.slit.as_deref(), self.hmat.as_deref());
        machine.set_table_files(TableFiles { srat, slit, hmat })?;
        self.append.iter().for_each(|words| machine.add_append(words));
        Ok(machine)
    }

    /// Memory and CPUs that QEMU's own options name are dealt to the nodes like ours.
    fn machine_of_options(&self) -> Result<Machine> {
        let memory = match (options::memory(&self.qemu), &self.mem) {
            (Some((bytes, _)), _) => bytes,
            (None, Some(text)) => size::parse(text)?,
            (None, None) => DEFAULT_MEMORY,
        };
        let cpus = options::cpus(&self.qemu).or(self.cpus).unwrap_or(DEFAULT_CPUS);
        if self.srat.is_some() || self.slit.is_some() {
            nodes::check(1, memory, cpus)?;
            let machine = Machine::new("options");
            return Ok(Machine { memory: Some(memory), cpus: Some(cpus), ..machine });
        }
        let nodes = nodes::spread(self.nodes.unwrap_or(DEFAULT_NODES), memory, cpus)?;
        Ok(Machine::with_nodes("options", nodes))
    }
}

pub(super) fn run(args: &RunArgs) -> Result<ExitCode> {
    // Before anything is installed or built: a machine that cannot be ends it here.
    let machine = args.machine()?;
    let tools = setup::ensure()?;
    let elf = build::kernel(&tools.toolchain)?;
    let request = args.options.request(&tools.qemu, &elf, &machine);
    match args.dry_run {
        true => print_command(&request),
        false if args.locality.asked_for() => args.locality.run(&request),
        false => show(&request),
    }
}

/// Boots and passes COM1 on to standard output; the exit code is the kernel's.
pub(super) fn show(request: &BootRequest<'_>) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    // Whoever closed our output wants to read no more; the kernel runs on to its exit code.
    let outcome = qemu::boot(
        request,
        |line| drop(writeln!(out, "{line}").and_then(|()| out.flush())),
        |_| {},
    )?;
    Ok(report(&outcome))
}

/// Says on standard error how a boot ended, if not well, and returns its exit code.
pub(super) fn report(outcome: &Outcome) -> ExitCode {
    let says = outcome.exit.says();
    if !says.is_empty() {
        say(&says);
    }
    ExitCode::from(outcome.exit.code())
}

/// Prints QEMU's command with COM2 left out; the tables of a case stay behind for it.
fn print_command(request: &BootRequest<'_>) -> Result<ExitCode> {
    let mut scratch = Scratch::new()?;
    let arguments = command::build(request, scratch.path(), command::Com2::Null)?;
    if !request.machine.tables.is_empty() {
        scratch.keep();
    }
    println!("{}", command::typed(request.qemu.as_os_str(), &arguments));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        run: RunArgs,
    }

    fn machine(words: &[&str]) -> Result<Machine> {
        let words = std::iter::once("x").chain(words.iter().copied());
        Words::try_parse_from(words).unwrap().run.machine()
    }

    #[test]
    fn the_default_machine() {
        let machine = machine(&[]).unwrap();
        assert_eq!(machine.nodes, nodes::spread(4, DEFAULT_MEMORY, 4).unwrap());
        assert_eq!(machine.append, "");
    }

    #[test]
    fn qemus_own_options_are_dealt_to_the_nodes() {
        let machine = machine(&["--nodes", "2", "--", "-m", "3G", "-smp", "3"]).unwrap();
        assert_eq!(machine.nodes, nodes::spread(2, 3 * size::GIB, 3).unwrap());
        assert_eq!(machine.qemu, ["-m", "3G", "-smp", "3"]);
    }

    #[test]
    fn words_add_up() {
        let machine = machine(&["--append", "hashdist=0", "--append", "numa=off"]).unwrap();
        assert_eq!(machine.append, "hashdist=0 numa=off");
    }

    #[test]
    fn tables_in_files_take_the_place_of_nodes() {
        let case = crate::workspace::root().join("tests/data/corpus/v01-two-socket-rev1.json");
        let case = case.to_str().unwrap();
        let machine = machine(&["--srat", case, "--slit", case, "--mem", "3G", "--cpus", "2"]);
        let machine = machine.unwrap();
        assert!(machine.nodes.is_empty());
        assert_eq!((machine.memory, machine.cpus), (Some(3 * size::GIB), Some(2)));
        assert_eq!(machine.tables.len(), 2);
        let arguments =
            machine::arguments::arguments(&machine, Scratch::new().unwrap().path()).unwrap();
        let line = arguments.join(" ");
        assert!(line.contains("/0-SRAT -acpitable file=") && line.ends_with("/1-SLIT"), "{line}");
        assert!(line.contains("size=3145728K,reserve=off") && !line.contains("-numa"), "{line}");
    }

    #[test]
    fn tables_and_nodes_exclude_each_other() {
        let case = crate::workspace::root().join("tests/data/corpus/v01-two-socket-rev1.json");
        let case = case.to_str().unwrap();
        let error = machine(&["--srat", case, "--", "-numa", "node"]).unwrap_err();
        assert!(error.to_string().contains("either nodes or tables"), "{error}");
        for words in [["--nodes", "2"], ["--machine", "a.toml"]] {
            let words = ["x", "--slit", case].into_iter().chain(words);
            assert!(Words::try_parse_from(words).is_err());
        }
    }

    #[test]
    fn machines_that_cannot_be() {
        for words in [&["--nodes", "0"][..], &["--cpus", "0"], &["--mem", "16M"], &["--mem", "x"]] {
            let error = machine(words).unwrap_err();
            assert!(error.is::<crate::fault::BadMachine>(), "{words:?}: {error}");
        }
        assert!(
            machine(&["--machine", "/nowhere.toml"]).unwrap_err().is::<crate::fault::BadMachine>()
        );
    }
}
