//! COM2: one JSON object a line, for programs.

use core::fmt::Write;

use nearmem_x86_64::serial;
use serde_json::Value;

/// Writes one object as one line.
pub fn send(value: &Value) {
    // `Value` prints as JSON on one line, straight to the port.
    let _ = writeln!(serial::facts(), "{value}");
}
