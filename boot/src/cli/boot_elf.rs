//! `boot-elf`: boots any ELF. Cargo calls it as the runner of the bare-metal target.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::options::QemuOptions;
use super::run::show;
use crate::fault::bad_machine;
use crate::machine::{self, Machine, file::DEFAULT_MEMORY, nodes};
use crate::setup;

#[derive(Debug, Clone, Args)]
pub(super) struct BootElfArgs {
    /// The ELF, with a PVH note
    elf: PathBuf,
    /// A machine file (TOML) or a case (.json) [default: 4 nodes, 4 CPUs, 2G]
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    #[command(flatten)]
    options: QemuOptions,
    /// Words for the kernel's command line
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub(super) fn run(args: &BootElfArgs) -> Result<ExitCode> {
    if !args.elf.is_file() {
        return Err(bad_machine(format!("{}: no such ELF", args.elf.display())));
    }
    let mut machine = match &args.machine {
        Some(path) => machine::load(path)?,
        None => Machine::with_nodes("default", nodes::spread(4, DEFAULT_MEMORY, 4)?),
    };
    machine.add_append(&args.words.join(" "));
    let qemu = setup::qemu::ensure()?;
    show(&args.options.request(&qemu, &args.elf, &machine))
}
