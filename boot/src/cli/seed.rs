//! `seed`: reproduces the seeds, before and after side by side.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::options::{BoxOptions, QemuOptions};
use super::run::report;
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
    #[command(flatten)]
    seed_box: BoxOptions,
    #[command(flatten)]
    options: QemuOptions,
}

pub(super) fn run(command: &SeedCommand) -> Result<ExitCode> {
    match command {
        SeedCommand::Hashdist(args) => run_hashdist(args),
    }
}

fn run_hashdist(args: &HashdistArgs) -> Result<ExitCode> {
    let mut machine = hashdist::machine(args.seed_box.nodes, args.seed_box.memory()?)?;
    args.seed_box.append_to(&mut machine);
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
