//! `bench`: counts the instructions of the allocator's work in the kernel.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::options::QemuOptions;
use super::run::report;
use crate::bench::{self, known};
use crate::machine::size;
use crate::qemu::Outcome;
use crate::{build, setup};

#[derive(Debug, Clone, Args)]
pub(super) struct BenchArgs {
    /// Write one JSON object a line instead of a table
    #[arg(long)]
    json: bool,
    /// Memory nodes [default: 8, as the box of the first seed]
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// Memory of all nodes together [default: 3407488K for each node]
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,
    /// Count these figures only, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// More words for the kernel's command line, as "pageset=zone"
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    append: Vec<String>,
    #[command(flatten)]
    options: QemuOptions,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(known::ALL.iter().map(|known| known.name))
}

pub(super) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let memory = args.mem.as_deref().map(size::parse).transpose()?;
    let machine = bench::machine(args.nodes, memory)?;
    let [own, flat] = bench::plan(&machine, &args.only);
    let tools = setup::ensure()?;
    let elf = build::kernel(&tools.toolchain)?;
    let mut figures = Vec::new();
    for (mut machine, names) in [(machine, own), (bench::flat_machine()?, flat)] {
        if names.is_empty() {
            continue;
        }
        args.append.iter().for_each(|words| machine.add_append(words));
        let request = args.options.request(&tools.qemu, &elf, &machine);
        match bench::count(&request, &names)? {
            Ok(counted) => figures.extend(counted),
            Err(exit) => return Ok(report(&Outcome { exit, messages: Vec::new() })),
        }
    }
    let mut out = io::stdout().lock();
    if !args.json {
        let default_machine = args.nodes.is_none() && args.mem.is_none();
        write!(out, "{}", bench::report::text(&figures, default_machine))?;
        return Ok(ExitCode::SUCCESS);
    }
    for figure in &figures {
        writeln!(out, "{}", serde_json::to_string(figure)?)?;
    }
    Ok(ExitCode::SUCCESS)
}
