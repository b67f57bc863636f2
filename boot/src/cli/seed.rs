//! `seed`: reproduces the seeds, before and after side by side.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::options::QemuOptions;
use super::run::report;
use crate::machine::size;
use crate::qemu::Outcome;
use crate::seed::{hashdist, report::text};
use crate::{build, setup};

#[derive(Debug, Subcommand)]
pub(super) enum SeedCommand {
    /// Hash tables on node 0 (hashdist=0), then spread over all nodes (hashdist=1)
    Hashdist(HashdistArgs),
}

#[derive(Debug, Clone, Args)]
pub(super) struct HashdistArgs {
    /// Write one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Memory nodes [default: 8, as the seed's box]
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// Memory of all nodes together [default: 3407488K for each node]
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,
    /// More words for the kernel's command line, as "dhash_entries=65536"
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    append: Vec<String>,
    #[command(flatten)]
    options: QemuOptions,
}

pub(super) fn run(command: &SeedCommand) -> Result<ExitCode> {
    match command {
        SeedCommand::Hashdist(args) => run_hashdist(args),
    }
}

fn run_hashdist(args: &HashdistArgs) -> Result<ExitCode> {
    let memory = args.mem.as_deref().map(size::parse).transpose()?;
    let mut machine = hashdist::machine(args.nodes, memory)?;
    args.append.iter().for_each(|words| machine.add_append(words));
    let tools = setup::ensure()?;
    let elf = build::kernel(&tools.toolchain)?;
    let comparison = match hashdist::compare(&args.options.request(&tools.qemu, &elf, &machine))? {
        Ok(comparison) => comparison,
        Err(exit) => return Ok(report(&Outcome { exit, messages: Vec::new() })),
    };
    match args.json {
        true => writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&comparison)?)?,
        false => write!(io::stdout().lock(), "{}", text(&comparison))?,
    }
    Ok(ExitCode::SUCCESS)
}
