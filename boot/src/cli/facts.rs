//! `facts CASE.json`: boots the machine of a case and writes what the kernel made of it.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value};

use super::options::QemuOptions;
use super::run::report;
use crate::machine::case;
use crate::qemu::{self, Exit, Outcome};
use crate::{build, setup};

/// What the kernel's fact of type `facts` has to have, in the order of our output.
const PARTS: [&str; 4] = ["exact", "informative", "findings", "cmdline"];

#[derive(Debug, Clone, Args)]
pub(super) struct FactsArgs {
    /// The case
    case: PathBuf,
    #[command(flatten)]
    options: QemuOptions,
}

pub(super) fn run(args: &FactsArgs) -> Result<ExitCode> {
    let machine = case::load(&args.case)?;
    let tools = setup::ensure()?;
    let elf = build::kernel(&tools.toolchain)?;
    let request = args.options.request(&tools.qemu, &elf, &machine);
    let mut facts = None;
    let outcome = qemu::boot(
        &request,
        |_| {},
        |fact| {
            if fact["type"] == "facts" {
                facts = Some(fact);
            }
        },
    )?;
    let outcome = match (outcome.exit, facts) {
        (Exit::Success, Some(facts)) => match shaped(&machine.name, facts) {
            Ok(object) => {
                writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&object)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            Err(lack) => Outcome { exit: Exit::Failure(lack), messages: outcome.messages },
        },
        (Exit::Success, None) => Outcome {
            exit: Exit::Failure("the kernel ended without its facts".into()),
            messages: outcome.messages,
        },
        (exit, _) => Outcome { exit, messages: outcome.messages },
    };
    Ok(report(&outcome))
}

/// The kernel's facts under the case's name, or what they lack.
fn shaped(case: &str, mut facts: Value) -> Result<Value, String> {
    let mut out = Map::new();
    out.insert("case".into(), case.into());
    for part in PARTS {
        let lack = || format!("the kernel's facts lack `{part}`");
        out.insert(part.into(), facts.get_mut(part).map(Value::take).ok_or_else(lack)?);
    }
    Ok(Value::Object(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_in_order_and_nothing_else() {
        let fact = json!({"type": "facts", "cmdline": "x", "findings": [], "exact": {"numa": "none"},
                          "informative": {}});
        let object = shaped("flat", fact).unwrap();
        let keys: Vec<_> = object.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["case", "exact", "informative", "findings", "cmdline"]);
        assert_eq!(object["exact"]["numa"], "none");
    }

    #[test]
    fn a_missing_part_is_named() {
        let error = shaped("flat", json!({"exact": {}})).unwrap_err();
        assert!(error.contains("`informative`"), "{error}");
    }
}
