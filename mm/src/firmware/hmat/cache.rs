//! Memory side caches: memory in front of memory (ACPI 6.5, 5.2.27.5).

use crate::firmware::bytes::{u32_at, u64_at};
use crate::ids::ProximityDomain;

const MEMORY: usize = 8;
const SIZE: usize = 16;
const ATTRIBUTES: usize = 24;
/// Behind it a reserved u16, the number of SMBIOS handles, and the handles, which say nothing here.
const FIXED: usize = 32;
const _: () = assert!(SIZE + size_of::<u64>() == ATTRIBUTES && ATTRIBUTES + 4 + 2 + 2 == FIXED);

/// A cache in front of a domain's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SideCache {
    /// The memory's domain.
    pub memory: ProximityDomain,
    /// Bytes that it holds.
    pub size: u64,
    /// How many levels there are in front of this memory: 0 to 15.
    pub levels: u8,
    /// Which of them this is, 1 the one nearest to the memory's users: 0 to 15.
    pub level: u8,
    /// How an address finds its line.
    pub associativity: Associativity,
    /// When writes reach the memory.
    pub write_policy: WritePolicy,
    /// Bytes of a line.
    pub line: u16,
}

/// How an address finds its line in a memory side cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Associativity {
    /// Not said, or a reserved number.
    Other,
    /// One line only.
    DirectMapped,
    /// By some function of the address.
    Complex,
}

/// When writes through a memory side cache reach the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WritePolicy {
    /// Not said, or a reserved number.
    Other,
    /// When the line is needed for another.
    WriteBack,
    /// At once.
    WriteThrough,
}

impl SideCache {
    /// Bytes without SMBIOS handles.
    pub(super) const FIXED: usize = FIXED;

    /// `None` for fewer bytes than [`SideCache::FIXED`].
    pub(super) fn decode(structure: &[u8]) -> Option<SideCache> {
        let attributes = u32_at(structure, ATTRIBUTES)?;
        let nibble = |shift: u32| (attributes >> shift & 0xf) as u8;
        Some(SideCache {
            memory: ProximityDomain(u32_at(structure, MEMORY)?),
            size: u64_at(structure, SIZE)?,
            levels: nibble(0),
            level: nibble(4),
            associativity: match nibble(8) {
                1 => Associativity::DirectMapped,
                2 => Associativity::Complex,
                _ => Associativity::Other,
            },
            write_policy: match nibble(12) {
                1 => WritePolicy::WriteBack,
                2 => WritePolicy::WriteThrough,
                _ => WritePolicy::Other,
            },
            line: (attributes >> 16) as u16,
        })
    }
}
