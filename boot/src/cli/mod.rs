//! The command line: `cargo run -- …`.

mod bench;
mod boot_elf;
mod facts;
mod locality;
pub mod options;
mod run;
mod seed;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{fault, map, setup};

/// Boots the Nearmem kernel in QEMU on a machine with several memory nodes.
///
/// Without a command: sets up what is missing, builds the kernel, boots it on a machine of
/// 4 nodes and prints what it says: the node map, the hash tables spread over the nodes, and the
/// memory of each node.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo run --",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::RunArgs,
}

const EXAMPLES: &str = "\
Examples:
  cargo run                                          4 nodes, 4 CPUs, 2 GiB
  cargo run -- --nodes 8 --mem 16G --cpus 3          8 nodes, 3 of them with a CPU
  cargo run -- --append hashdist=0                   hash tables on one node, as before 2007
  cargo run -- --machine my.toml                     your own topology from a file
  cargo run -- -- -machine pc                        whatever QEMU understands, after --
  cargo run -- -- -numa node,memdev=a -object memory-backend-ram,id=a,size=1G -m 1G
  cargo run -- --srat srat.bin --slit slit.bin --mem 8G       another machine's tables
  cargo run -- --locality --append pageset=zone      which node's memory a CPU touches
  cargo run -- map case.json                         what tables say, as a node map
  cargo run -- seed hashdist                         the first seed, before and after
  cargo run -- bench                                 instructions of the allocator's work

Exit code: 0 when the kernel is done, 1 when it failed, 2 when the machine cannot be.
Variables: NEARMEM_TOOLCHAIN=debian compiles with Debian's packages instead of rustup's,
NEARMEM_QEMU names the program to run as QEMU.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Boot and show the main job; what happens without a command, too
    Run(run::RunArgs),
    /// Boot the machine of a case and write what the kernel made of it, as one JSON object
    Facts(facts::FactsArgs),
    /// Build the node map of a machine's tables on this host, without QEMU
    Map(map::MapArgs),
    /// Reproduce one of the two seeds, before and after
    #[command(subcommand)]
    Seed(seed::SeedCommand),
    /// Count the instructions of the allocator's work in the kernel, beside Linux's
    Bench(bench::BenchArgs),
    /// Boot any kernel or suites ELF; cargo's runner for the bare-metal target
    BootElf(boot_elf::BootElfArgs),
    /// Find or install what building and booting take, and stop
    Setup,
}

/// Reads the command line, does what it says, and returns the exit code.
pub fn main() -> ExitCode {
    match dispatch(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("nearmem: {error:#}");
            ExitCode::from(fault::exit_code(&error))
        }
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        None => run::run(&cli.run),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Facts(args)) => facts::run(&args),
        Some(Command::Map(args)) => Ok(map::run(&args)),
        Some(Command::Seed(command)) => seed::run(&command),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::BootElf(args)) => boot_elf::run(&args),
        Some(Command::Setup) => setup::ensure().map(|_| ExitCode::SUCCESS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_run() {
        let words = ["x", "--nodes", "2", "--append", "hashdist=0", "--", "-machine", "pc"];
        assert!(Cli::try_parse_from(words).unwrap().command.is_none());
        assert!(Cli::try_parse_from(["x"]).unwrap().command.is_none());
        let run = Cli::try_parse_from(["x", "run", "--cpus", "3"]).unwrap();
        assert!(matches!(run.command, Some(Command::Run(_))));
    }

    #[test]
    fn options_that_exclude_each_other() {
        assert!(Cli::try_parse_from(["x", "--machine", "a.toml", "--nodes", "2"]).is_err());
        assert!(Cli::try_parse_from(["x", "--nodes", "2", "facts", "a.json"]).is_err());
        assert!(Cli::try_parse_from(["x", "--timeout", "0"]).is_err());
        assert!(Cli::try_parse_from(["x", "-machine", "pc"]).is_err());
    }
}
