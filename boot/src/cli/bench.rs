//! `bench`: counts the instructions of the allocator's work in the kernel.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::options::{BoxOptions, QemuOptions};
use super::run::report;
use crate::bench::{self, known};
use crate::qemu::Outcome;
use crate::{build, setup};

#[derive(Debug, Clone, Args)]
pub(super) struct BenchArgs {
    /// Write one JSON object a line instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    seed_box: BoxOptions,
    /// Count these figures only, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    #[command(flatten)]
    options: QemuOptions,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(known::ALL.iter().map(|known| known.name))
}

pub(super) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let machine = bench::machine(args.seed_box.nodes, args.seed_box.memory()?)?;
    let [own, flat] = bench::plan(&machine, &args.only);
    let tools = setup::ensure()?;
    let elf = build::kernel(&tools.toolchain)?;
    let mut figures = Vec::new();
    for (mut machine, names) in [(machine, own), (bench::flat_machine()?, flat)] {
        if names.is_empty() {
            continue;
        }
        args.seed_box.append_to(&mut machine);
        let request = args.options.request(&tools.qemu, &elf, &machine);
        match bench::count(&request, &names)? {
            Ok(counted) => figures.extend(counted),
            Err(exit) => return Ok(report(&Outcome { exit, messages: Vec::new() })),
        }
    }
    let mut out = io::stdout().lock();
    if !args.json {
        write!(out, "{}", bench::report::text(&figures, args.seed_box.is_default()))?;
        return Ok(ExitCode::SUCCESS);
    }
    for figure in &figures {
        writeln!(out, "{}", serde_json::to_string(figure)?)?;
    }
    Ok(ExitCode::SUCCESS)
}
