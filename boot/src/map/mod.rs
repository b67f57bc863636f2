//! `map`: the node map of a machine's tables, on the host, without QEMU.
//!
//! Tables and a memory map flow in, in any of the forms that they have outside a machine; the
//! library builds the map as the kernel does; JSON or a report for people comes out. What is wrong with the tables is part of the map:
//! only an input that cannot be read is a failure.

mod acpidump;
mod args;
mod build;
mod case;
mod cpus;
mod encode;
mod input;
mod json;
mod memory;
mod people;
#[cfg(test)]
mod properties;
mod raw;
mod source;
mod speeds;
mod tables;
mod user_map;
mod windows;

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

pub use args::MapArgs;
use input::Input;
use tables::Which;

/// Writes the node map to standard output. Exit code 0 whenever there is one, 1 when an input
/// cannot be read.
pub fn run(args: &MapArgs) -> ExitCode {
    let json = args.json || !(args.report || std::io::stdout().is_terminal());
    match text(args, json) {
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error.into()),
        },
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("nearmem map: {error:#}");
    ExitCode::FAILURE
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
    let which = Which::of(signature);
    let input = Input::of_case(case)?;
    Ok(which.and_then(|which| input.tables.get(which)).map(|table| table.bytes.clone()))
}

fn text(args: &MapArgs, json: bool) -> Result<String> {
    let input = Input::load(args)?;
    let built = build::build(&input);
    if json {
        input.remarks.iter().for_each(|remark| eprintln!("nearmem map: {remark}"));
    }
    Ok(match json {
        true => format!("{}\n", json::value(&built)),
        false => people::report(&built, &input, args.records),
    })
}
