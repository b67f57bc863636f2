//! What a node map is made of.

use super::fake::FakeNodes;
use super::memory_map::MemoryMap;
use crate::ids::ApicId;

/// `numa=`, as far as it says which tables count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum NumaOption {
    /// Not given: the SRAT counts.
    #[default]
    On,
    /// `numa=noacpi`: as if there were no SRAT.
    NoAcpi,
    /// `numa=off`: one node, whatever the tables say.
    Off,
}

/// Where a present CPU goes that no SRAT record names: its vendor's code decides (reference:
/// numa-discovery, section 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnlistedCpus {
    /// Intel and all others: dealt over the nodes with memory by CPU number.
    #[default]
    Dealt,
    /// AMD and Hygon: the node whose number equals the CPU's last-level cache id; then that of the
    /// nearest lower APIC id with a record, of the nearest higher one, the first node online.
    ByCache(CacheId),
}

/// How the id of a CPU's last-level cache follows from its APIC id (reference: numa-discovery,
/// section 6, "Last-level cache id").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheId {
    /// The APIC id shifted right by this many bits: the width of the core number in a socket, or
    /// with TOPOEXT the width of the threads that share the cache.
    Shift(u32),
    /// With TOPOEXT before family 17h: the number of the die, which the firmware counts through
    /// all sockets.
    Die {
        /// Bits of the APIC id within a socket.
        socket_shift: u32,
        /// CPUs of a die; they have APIC ids in a row. 0 counts as 1.
        cpus: u32,
        /// Dies of a socket.
        dies: u32,
    },
}

impl CacheId {
    /// The id.
    pub fn of(self, apic: ApicId) -> u32 {
        match self {
            CacheId::Shift(shift) => apic.0.checked_shr(shift).unwrap_or(0),
            CacheId::Die { socket_shift, cpus, dies } => {
                let socket = apic.0.checked_shr(socket_shift).unwrap_or(0);
                let within = apic.0 - socket.checked_shl(socket_shift).unwrap_or(0);
                socket.saturating_mul(dies).saturating_add(within / cpus.max(1))
            }
        }
    }
}

/// What a node map is made of. Start from [`Inputs::new`] and set what differs.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The whole SRAT, header included; `None` when there is none.
    pub srat: Option<&'a [u8]>,
    /// The whole SLIT, header included; `None` when there is none.
    pub slit: Option<&'a [u8]>,
    /// The whole CEDT, header included; `None` when there is none. Each CXL window that no range of
    /// the SRAT reaches into becomes a possible node; without an SRAT that stands it means nothing.
    pub cedt: Option<&'a [u8]>,
    /// Usable memory.
    pub memory: &'a MemoryMap<'a>,
    /// The present CPUs' APIC ids, by [`CpuId`](crate::CpuId): the boot CPU, then the others in
    /// MADT order. Empty for a tool that knows of no CPUs: then every CPU of the SRAT counts as
    /// present.
    pub cpus: &'a [ApicId],
    /// Where CPUs without a record go.
    pub unlisted: UnlistedCpus,
    /// The highest APIC id that a CPU can have: 254 in xAPIC mode, [`Inputs::X2APIC`] in x2APIC
    /// mode. An x2APIC record above it is ignored and names no domain.
    pub max_apic_id: u32,
    /// `numa=off` and `numa=noacpi`.
    pub numa: NumaOption,
    /// `numa=fake=`: the nodes that the tables give, or the one that there is without them, are
    /// split.
    pub fake: Option<FakeNodes<'a>>,
}

impl<'a> Inputs<'a> {
    /// [`Inputs::max_apic_id`] in xAPIC mode: 255 is the broadcast address.
    pub const XAPIC: u32 = 254;
    /// [`Inputs::max_apic_id`] in x2APIC mode: all ones is the broadcast address.
    pub const X2APIC: u32 = u32::MAX - 1;

    /// This memory, no tables, no CPUs, x2APIC mode, `numa=` not given.
    pub fn new(memory: &'a MemoryMap<'a>) -> Inputs<'a> {
        Inputs {
            srat: None,
            slit: None,
            cedt: None,
            memory,
            cpus: &[],
            unlisted: UnlistedCpus::Dealt,
            max_apic_id: Inputs::X2APIC,
            numa: NumaOption::On,
            fake: None,
        }
    }
}
