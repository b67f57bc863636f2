//! `map`: the node map of a machine's tables, on the host, without QEMU.
//!
//! A case, or tables and a memory map in files, flow in; the library builds the map as the kernel
//! does; JSON or a report for people comes out. What is wrong with the tables is part of the map:
//! only an input that cannot be read is a failure.

mod build;
mod case;
mod encode;
mod input;
mod json;
mod memory_text;
mod people;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use input::Input;

/// What `map` is told on its command line.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct MapArgs {
    /// A case in JSON: memory map, SRAT and SLIT. NAME.srat.bin and NAME.slit.bin beside NAME.json
    /// win over its entries
    #[arg(required_unless_present = "srat")]
    case: Option<PathBuf>,
    /// A raw SRAT, header included, as in /sys/firmware/acpi/tables/SRAT
    #[arg(long, value_name = "FILE")]
    srat: Option<PathBuf>,
    /// A raw SLIT, header included
    #[arg(long, value_name = "FILE")]
    slit: Option<PathBuf>,
    /// A memory map: JSON as in a case, the text of /proc/iomem, or e820 lines of a boot log.
    /// Without one every enabled memory range counts as RAM
    #[arg(long, value_name = "FILE")]
    memory_map: Option<PathBuf>,
    /// Write JSON also to a terminal
    #[arg(long)]
    json: bool,
    /// In the report, show every record of the SRAT
    #[arg(long)]
    records: bool,
}

/// Writes the node map to standard output. Exit code 0 whenever there is one, 1 when an input
/// cannot be read.
pub fn run(args: &MapArgs) -> ExitCode {
    match text(args, args.json || !std::io::stdout().is_terminal()) {
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            eprintln!("nearmem map: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The node map of a case as JSON, as `map` writes it.
///
/// # Errors
/// The case or a table beside it cannot be read.
pub fn case_as_json(case: &Path) -> Result<serde_json::Value> {
    Ok(json::value(&build::build(&Input::of_case(case)?)))
}

/// The raw SRAT or SLIT of a case, by its signature; `None` where it has none.
///
/// # Errors
/// As [`case_as_json`].
pub fn case_table(case: &Path, signature: &str) -> Result<Option<Vec<u8>>> {
    let input = Input::of_case(case)?;
    Ok(match signature {
        "SRAT" => input.srat,
        "SLIT" => input.slit,
        _ => None,
    })
}

fn text(args: &MapArgs, json: bool) -> Result<String> {
    let input = Input::load(args)?;
    let built = build::build(&input);
    Ok(match json {
        true => format!("{}\n", json::value(&built)),
        false => people::report(&built, &input, args.records),
    })
}
