//! The CPUs of a MADT: by node, and where it and the SRAT differ.

use std::fmt::{Result, Write};

use nearmem::ApicId;

use super::section;
use super::text::{Runs, wrapped};
use crate::map::build::Built;

/// Writes the section, when there is a MADT.
pub fn write(out: &mut dyn Write, built: &Built) -> Result {
    let Some(cpus) = &built.cpus else { return Ok(()) };
    let listed = &cpus.listed;
    let (present, online_capable) = (listed.present.len(), listed.online_capable.len());
    let disabled = listed.disabled.len();
    section(out, "CPUs by the MADT, as APIC ids")?;
    writeln!(
        out,
        "  {present} enabled, {online_capable} that may come (online capable), {disabled} disabled"
    )?;
    for (node, cpus) in &cpus.by_node {
        list(out, &format!("  node {:<4}  ", node.to_string()), cpus)?;
    }
    let lists = [
        ("  may come: ", listed.online_capable.iter().copied().collect()),
        ("  enabled and in no record of the SRAT: ", cpus.without_record.clone()),
        ("  in a record of the SRAT and not in the MADT: ", cpus.only_in_srat.clone()),
    ];
    for (what, cpus) in lists.iter().filter(|(_, cpus): &&(&str, Vec<ApicId>)| !cpus.is_empty()) {
        list(out, what, cpus)?;
    }
    Ok(())
}

fn list(out: &mut dyn Write, start: &str, cpus: &[ApicId]) -> Result {
    let ids: Vec<u32> = cpus.iter().map(|apic| apic.0).collect();
    let text = if ids.is_empty() { "-".to_owned() } else { Runs(&ids).to_string() };
    wrapped(out, start, 13, &text)
}
