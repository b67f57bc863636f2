//! The CXL windows and host bridges of a CEDT.

use std::fmt::{Result, Write};

use nearmem::PhysRange;
use nearmem::units::PhysAddr;

use super::section;
use super::text::{Size, wrapped};
use crate::map::build::Built;
use crate::map::windows::Window;

/// Writes the section, when there is a CEDT.
pub fn write(out: &mut dyn Write, built: &Built) -> Result {
    let Some(cxl) = &built.cxl else { return Ok(()) };
    section(out, "CXL windows by the CEDT")?;
    if cxl.windows.is_empty() {
        writeln!(out, "  none")?;
    }
    for window in &cxl.windows {
        let node = window.node.map_or("no node".to_owned(), |node| format!("node {node}"));
        let range = shown(window.base, window.length);
        let text = format!("{range} {}, {}", Size(window.length), details(window));
        wrapped(out, &format!("  {node:<9}  "), 13, &text)?;
    }
    for bridge in &cxl.bridges {
        let registers = shown(bridge.base, bridge.length);
        writeln!(out, "  host bridge {:#x}, registers at {registers}", bridge.uid)?;
    }
    Ok(())
}

fn details(window: &Window) -> String {
    let mut parts = vec![match (window.ways, window.granularity) {
        (Some(1), _) => "not interleaved".to_owned(),
        (Some(ways), Some(bytes)) => format!("{ways} ways of {}", Size(bytes.into())),
        _ => "interleaved in an unknown way".to_owned(),
    }];
    if !window.bridges.is_empty() {
        let bridges: Vec<_> = window.bridges.iter().map(|uid| format!("{uid:#x}")).collect();
        parts.push(format!("host bridges {}", bridges.join(" ")));
    }
    match &window.allows()[..] {
        [] => parts.push("for nothing".to_owned()),
        words => parts.push(format!("for {}", words.join(", "))),
    }
    parts.join("; ")
}

/// A range that wraps is shown as far as it is one.
fn shown(base: u64, length: u64) -> PhysRange {
    PhysRange { start: PhysAddr(base), end: PhysAddr(base.saturating_add(length)) }
}
