//! The layouts of the structures, and how they are read.

use super::{Body, DomainAttributes, Locality, STRUCTURE_HEADER, SideCache};
use crate::firmware::bytes::{u16_at, u32_at};
use crate::ids::ProximityDomain;

/// Type 0, memory proximity domain attributes (ACPI 6.5, 5.2.27.3).
mod attributes {
    pub const KIND: u16 = 0;
    pub const FLAGS: usize = 8;
    pub const INITIATOR: usize = 12;
    pub const MEMORY: usize = 16;
    /// A reserved u32 and two u64, in revision 1 an address range.
    const RESERVED: usize = 20;
    pub const LENGTH: usize = 40;
    const _: () = assert!(MEMORY + 4 == RESERVED && RESERVED + 4 + 8 + 8 == LENGTH);

    pub const INITIATOR_VALID: u16 = 1 << 0;
    /// Revision 1 only; reserved later.
    pub const MEMORY_VALID: u16 = 1 << 1;
}

/// Type 1, system locality latency and bandwidth information (ACPI 6.5, 5.2.27.4).
const LOCALITY: u16 = 1;
/// Type 2, memory side cache information (ACPI 6.5, 5.2.27.5).
const CACHE: u16 = 2;

/// Decodes the structure that `rest` begins with: all of `rest` is there, the structure perhaps
/// not.
pub fn decode(rest: &[u8], kind: u16, length: u32, revision: u8) -> Body<'_> {
    let bytes = length as usize;
    let truncated = Body::Truncated { present: rest.len() as u32 };
    let enough = match kind {
        attributes::KIND => bytes == attributes::LENGTH,
        LOCALITY => bytes >= Locality::FIXED,
        CACHE => bytes >= SideCache::FIXED,
        _ => bytes >= STRUCTURE_HEADER,
    };
    // Linux does not look at a structure of which only type and length are there.
    if rest.len() == STRUCTURE_HEADER && !(enough && bytes == STRUCTURE_HEADER) {
        return truncated;
    }
    if !enough {
        return Body::BadLength { kind, length };
    }
    let Some(structure) = rest.get(..bytes) else { return truncated };
    let decoded = match kind {
        attributes::KIND => attributes(structure, revision),
        LOCALITY => Locality::decode(structure, revision),
        CACHE => SideCache::decode(structure).map(Body::Cache),
        _ => None,
    };
    decoded.unwrap_or(Body::Other { kind, length })
}

fn attributes(structure: &[u8], revision: u8) -> Option<Body<'_>> {
    let flags = u16_at(structure, attributes::FLAGS)?;
    let memory = ProximityDomain(u32_at(structure, attributes::MEMORY)?);
    let initiator = ProximityDomain(u32_at(structure, attributes::INITIATOR)?);
    Some(Body::Attributes(DomainAttributes {
        memory: (revision > 1 || flags & attributes::MEMORY_VALID != 0).then_some(memory),
        initiator: (flags & attributes::INITIATOR_VALID != 0).then_some(initiator),
    }))
}
