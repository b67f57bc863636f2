//! `seed`: reproduces the seeds.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(super) enum SeedCommand {
    /// Hash tables on node 0 (hashdist=0), then spread over all nodes (hashdist=1)
    Hashdist(HashdistArgs),
}

#[derive(Debug, Clone, Args)]
pub(super) struct HashdistArgs {
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &SeedCommand) -> Result<ExitCode> {
    match command {
        SeedCommand::Hashdist(args) => anyhow::bail!("{args:?}"),
    }
}
