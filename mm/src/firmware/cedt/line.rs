//! The lines of records, for people.

use core::fmt;

use super::{Body, Entry, Window};
use crate::units::{PhysAddr, PhysRange};

/// `CEDT: CXL window [mem 0x...-0x...], 2 ways of 256 bytes, host bridges 7, 6`.
impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.body {
            Body::HostBridge(bridge) => {
                let range = shown(bridge.base, bridge.length);
                write!(f, "CEDT: CXL host bridge {}, registers {range}", bridge.uid)
            }
            Body::Window(window) => {
                write!(f, "CEDT: CXL window {}, ", shown(window.base, window.length))?;
                interleave(f, &window)
            }
            Body::Other { kind, length } | Body::BadLength { kind, length } => {
                write!(f, "CEDT: type {kind}, length {length}")
            }
            Body::Truncated { present } => write!(f, "CEDT: {present} bytes of a record"),
        }
    }
}

/// A range that wraps is shown as far as it is one.
fn shown(base: u64, length: u64) -> PhysRange {
    PhysRange { start: PhysAddr(base), end: PhysAddr(base.saturating_add(length)) }
}

fn interleave(f: &mut fmt::Formatter<'_>, window: &Window<'_>) -> fmt::Result {
    match (window.ways, window.granularity) {
        (Some(1), _) => f.write_str("not interleaved")?,
        (Some(ways), Some(bytes)) => write!(f, "{ways} ways of {bytes} bytes")?,
        _ => f.write_str("interleaved in an unknown way")?,
    }
    for (at, uid) in window.targets().enumerate() {
        f.write_str(if at == 0 { ", host bridges " } else { ", " })?;
        write!(f, "{uid}")?;
    }
    Ok(())
}
