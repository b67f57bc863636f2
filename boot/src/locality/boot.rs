//! One boot under the meter.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Report, counts, layout::Layout, plugin};
use crate::machine::options;
use crate::qemu::{self, Accel, BootRequest, Exit, Outcome};
use crate::scratch::Scratch;

/// What the kernel does for the meter where its command line does not say.
const WORD: &str = "locality=pairs";

/// How a boot under the meter went.
#[derive(Debug, Clone, PartialEq)]
pub enum Metered {
    /// It ended as `outcome` says; the report is there when it ended well.
    Booted {
        /// How the boot ended.
        outcome: Outcome,
        /// What the meter saw.
        report: Option<Report>,
    },
    /// There was no boot: this QEMU takes no such plugin. The text is its own line.
    NoPlugin(String),
}

/// Boots with the plugin, under TCG unless the machine's own options choose.
///
/// # Errors
/// As [`qemu::boot`]; and when a kernel that ended well said nothing for the meter, or the plugin
/// left no counts.
pub fn boot(
    request: &BootRequest<'_>,
    plugin: &Path,
    on_console: impl FnMut(&str),
) -> Result<Metered> {
    let scratch = Scratch::new()?;
    let file = scratch.path().join("counts");
    let request = BootRequest {
        accel: Accel::Tcg,
        append: words(request),
        plugin: Some(plugin::argument(plugin, &file)),
        ..request.clone()
    };
    let mut fact = None;
    let outcome = qemu::boot(&request, on_console, |value: Value| {
        if value["type"] == "locality" {
            fact = Some(value);
        }
    })?;
    match &outcome.exit {
        Exit::Refused(line) if plugin::is_to_blame(line) => {
            return Ok(Metered::NoPlugin(line.clone()));
        }
        Exit::Success => {}
        _ => return Ok(Metered::Booted { outcome, report: None }),
    }
    let Some(fact) = fact else { bail!("the kernel said nothing for the locality meter") };
    let text = std::fs::read_to_string(&file).context("the plugin left no counts")?;
    let report = Report::new(&counts::parse(&text)?, &Layout::from_fact(fact)?);
    Ok(Metered::Booted { outcome, report: Some(report) })
}

/// The request's words, with ours where none of them is for the meter.
fn words(request: &BootRequest<'_>) -> String {
    // A `-append` among QEMU's own options replaces the whole line.
    let own = options::values(&request.machine.qemu, "append").last();
    let given = own.unwrap_or(&request.machine.append);
    let all = format!("{given} {}", request.append);
    match all.split_whitespace().any(|word| word.starts_with("locality=")) {
        true => request.append.clone(),
        false => format!("{} {WORD}", request.append).trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn the_kernel_is_asked_for_pairs_unless_it_is_asked_for_more() {
        let words = |machine: &str, more: &str| {
            let machine = Machine { append: machine.into(), ..Machine::new("m") };
            let request = BootRequest::new("/q".as_ref(), "/k".as_ref(), &machine);
            words(&BootRequest { append: more.into(), ..request })
        };
        assert_eq!(words("pageset=zone", ""), "locality=pairs");
        assert_eq!(words("", "numa=off"), "numa=off locality=pairs");
        assert_eq!(words("locality=layout", "numa=off"), "numa=off");
    }
}
