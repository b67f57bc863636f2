//! Findings by kind, each with its place and the bytes there.

use std::fmt::{Result, Write};

use nearmem::finding::Finding;

use super::text::wrapped;
use super::{excerpt, section};
use crate::map::build::Built;
use crate::map::input::Input;

/// Findings of one kind that are shown unless all are wanted.
const SHOWN: usize = 4;

/// Writes the section; with `all`, findings of one kind without end.
pub fn write(out: &mut dyn Write, built: &Built, input: &Input, all: bool) -> Result {
    let mut kinds: Vec<&str> = Vec::new();
    for finding in &built.findings {
        if !kinds.contains(&finding.kind.name()) {
            kinds.push(finding.kind.name());
        }
    }
    if !kinds.is_empty() {
        section(out, "Findings")?;
    }
    for name in kinds {
        let same: Vec<_> = built.findings.iter().filter(|f| f.kind.name() == name).collect();
        of_kind(out, name, &same, input, all)?;
    }
    Ok(())
}

fn of_kind(
    out: &mut dyn Write,
    name: &str,
    findings: &[&Finding],
    input: &Input,
    all: bool,
) -> Result {
    let severity = findings.first().map_or("", |finding| finding.kind.severity().name());
    writeln!(out, "  {severity:<8} {name}")?;
    let shown = if all { findings.len() } else { SHOWN };
    for finding in findings.iter().take(shown) {
        wrapped(out, "    ", 4, &finding.to_string())?;
        excerpt::write(out, &finding.place, input)?;
    }
    match findings.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "    and {more} more of this kind, shown with --records"),
    }
}
