//! The layouts of the records, and how they are read.

use super::{Body, HostBridge, Window};
use crate::firmware::bytes::{array_at, u8_at, u32_at, u64_at};
use crate::firmware::walk::Cut;

/// Type 0, CXL host bridge structure (CXL 3.1, 9.18.1.2).
mod bridge {
    pub const KIND: u8 = 0;
    pub const UID: usize = 4;
    pub const VERSION: usize = 8;
    pub const BASE: usize = 16;
    pub const RANGE_LENGTH: usize = 24;
    pub const LENGTH: usize = 32;
    const _: () = assert!(VERSION + 4 + 4 == BASE && RANGE_LENGTH + 8 == LENGTH);
}

/// Type 1, CXL fixed memory window structure (CXL 3.1, 9.18.1.3).
mod window {
    pub const KIND: u8 = 1;
    pub const BASE: usize = 8;
    pub const RANGE_LENGTH: usize = 16;
    pub const WAYS: usize = 24;
    pub const GRANULARITY: usize = 28;
    pub const RESTRICTIONS: usize = 32;
    pub const QOS_CLASS: usize = 34;
    pub const TARGETS: usize = 36;
    const _: () = assert!(RANGE_LENGTH + 8 == WAYS && WAYS + 1 + 1 + 2 == GRANULARITY);
    const _: () = assert!(RESTRICTIONS + 2 == QOS_CLASS && QOS_CLASS + 2 == TARGETS);
    /// At least one host bridge.
    pub const LENGTH: usize = TARGETS + 4;
}

/// Decodes a record.
pub fn decode(bytes: Cut<'_>) -> Body<'_> {
    let record = match bytes {
        Cut::Whole(record) => record,
        Cut::TooShort { kind, length } => return Body::BadLength { kind, length },
        Cut::Truncated { present } => return Body::Truncated { present },
    };
    let length = record.len() as u16;
    let Some(&kind) = record.first() else { return Body::Truncated { present: 0 } };
    let (least, decoded) = match kind {
        bridge::KIND => (bridge::LENGTH, bridge_record(record)),
        window::KIND => (window::LENGTH, window_record(record)),
        _ => (0, None),
    };
    if record.len() < least {
        return Body::BadLength { kind, length };
    }
    decoded.unwrap_or(Body::Other { kind, length })
}

fn bridge_record(record: &[u8]) -> Option<Body<'_>> {
    Some(Body::HostBridge(HostBridge {
        uid: u32_at(record, bridge::UID)?,
        version: u32_at(record, bridge::VERSION)?,
        base: u64_at(record, bridge::BASE)?,
        length: u64_at(record, bridge::RANGE_LENGTH)?,
    }))
}

fn window_record(record: &[u8]) -> Option<Body<'_>> {
    let ways = ways(u8_at(record, window::WAYS)?);
    let targets = record.get(window::TARGETS..)?;
    let wanted = ways.map_or(0, |ways| 4 * usize::from(ways)).min(targets.len());
    Some(Body::Window(Window {
        base: u64_at(record, window::BASE)?,
        length: u64_at(record, window::RANGE_LENGTH)?,
        ways,
        granularity: granularity(u32_at(record, window::GRANULARITY)?),
        restrictions: u16::from_le_bytes(array_at(record, window::RESTRICTIONS)?),
        qos_class: u16::from_le_bytes(array_at(record, window::QOS_CLASS)?),
        targets: targets.get(..wanted)?,
    }))
}

/// Encoded number of interleave ways ("ENIW").
fn ways(encoded: u8) -> Option<u8> {
    match encoded {
        0..=4 => Some(1 << encoded),
        8..=10 => Some(3 << (encoded - 8)),
        _ => None,
    }
}

/// Encoded interleave granularity ("HBIG"): 256 bytes to 16 KiB.
fn granularity(encoded: u32) -> Option<u32> {
    (encoded <= 6).then(|| 256 << encoded)
}
