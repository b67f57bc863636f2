//! The last line: what an operating system makes of it all.

use std::fmt::{Result, Write};

use nearmem::finding::{Kind, Severity};

use super::nodes;
use super::text::{count, wrapped};
use crate::map::build::Built;
use crate::map::input::Input;

/// Writes the line.
pub fn write(out: &mut dyn Write, built: &Built, input: &Input) -> Result {
    let warnings = built.findings.iter().filter(|f| f.kind.severity() == Severity::Warning);
    let warnings = warnings.count();
    let notes = built.findings.len() - warnings;
    let found = match warnings {
        0 => format!("nothing to find fault with, {}", count(notes, "note")),
        _ => format!("{}, {}", count(warnings, "warning"), count(notes, "note")),
    };
    writeln!(out)?;
    let text = format!("{}: {}; {found}.", tables(built, input), nodes::summary(built));
    wrapped(out, "Verdict: ", 2, &text)
}

/// What becomes of the tables.
fn tables(built: &Built, input: &Input) -> String {
    let has = |wanted: fn(&Kind) -> bool| built.findings.iter().find(|f| wanted(&f.kind));
    let options = |text: &str| match input.words.is_empty() {
        true => text.to_owned(),
        false => format!("{text}, with {}", input.words),
    };
    if has(|kind| matches!(kind, Kind::SratRejected)).is_some() {
        let cause = has(is_cause).map_or("unusable", |finding| finding.kind.name());
        return options(&format!("the SRAT is refused ({cause})"));
    }
    if has(|kind| matches!(kind, Kind::SratAbsent)).is_some() {
        return options("there is no SRAT");
    }
    let slit = has(|kind| matches!(kind, Kind::SlitRejected | Kind::SlitTruncated { .. }));
    options(match (built.fallback, slit) {
        (true, _) => "the tables are not used",
        (false, Some(_)) => "the SRAT stands, the SLIT is refused",
        (false, None) => "the tables stand",
    })
}

/// The faults for which an SRAT is refused as a whole.
fn is_cause(kind: &Kind) -> bool {
    use nearmem::finding::Uncovered::Refused;
    matches!(
        kind,
        Kind::SratBadEntryLength { .. }
            | Kind::SratOverlap { .. }
            | Kind::SratUncoveredRam { outcome: Refused, .. }
    )
}
