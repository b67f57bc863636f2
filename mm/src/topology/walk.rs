//! The SRAT's records -> domains with node ids, CPUs and blocks of addresses.
//!
//! Two walks, as Linux (reference: numa-discovery, section 2): types 0, 2 and 5 in table order,
//! then type 1 in table order. So domains with CPUs get their ids first, and CXL windows the last
//! ones.

use super::domains::{self, Domain, Domains};
use super::fill::Fill;
use super::records::{Block, CpuRecord, settle};
use super::windows;
use crate::finding::{Finding, Findings, Kind};
use crate::firmware::srat::{self, Body, Entry, InitiatorAffinity, MemoryAffinity, Srat};
use crate::ids::{NodeId, NodeSet, ProximityDomain};

/// What the SRAT says, before anybody looks at memory.
pub struct Affinity<'m> {
    /// Whether every record has a length that it can have; the SRAT is refused otherwise.
    pub sound: bool,
    /// The domains that enabled records name, by node id; then those of CXL windows.
    pub domains: &'m [Domain],
    /// How many of them the SRAT names.
    pub named: usize,
    /// The enabled CPU records, ascending by APIC id, each id once.
    pub records: &'m mut [CpuRecord],
    /// The enabled memory records of some length in table order, and the CXL windows.
    pub blocks: &'m mut [Block],
    /// Nodes with a generic initiator.
    pub initiators: NodeSet,
}

/// Memory for what the SRAT says.
pub struct Room<'m> {
    /// For [`Affinity::domains`].
    pub domains: &'m mut [Domain],
    /// For [`Affinity::records`].
    pub records: &'m mut [CpuRecord],
    /// For [`Affinity::blocks`].
    pub blocks: &'m mut [Block],
}

/// Reads a table, and the windows of a CEDT. When it is not sound, its CPUs are read nevertheless,
/// without further findings: they are what the one node has that remains.
pub fn read<'m>(
    srat: &Srat<'_>,
    cedt: Option<&[u8]>,
    max_apic_id: u32,
    room: Room<'m>,
    findings: &mut dyn Findings,
) -> Affinity<'m> {
    let sound = check_lengths(srat, findings);
    let mut mute = |_: Finding| ();
    let findings = if sound { findings } else { &mut mute };
    let mut domains = Domains::new(room.domains);
    let (records, initiators) =
        cpus_and_initiators(srat, max_apic_id, &mut domains, room.records, findings);
    let mut blocks = Fill::new(room.blocks);
    if sound {
        memory(srat, &mut domains, &mut blocks, findings);
        disabled_domains(srat, domains.named(), findings);
    }
    let named = domains.named().len();
    if sound && let Some(cedt) = cedt {
        windows::read(cedt, &mut domains, &mut blocks, findings);
    }
    let blocks = blocks.finish();
    Affinity { sound, domains: domains.into_named(), named, records, blocks, initiators }
}

/// Looks for lengths that cannot be. One of them and nothing in the table is to be trusted.
fn check_lengths(srat: &Srat<'_>, findings: &mut dyn Findings) -> bool {
    let mut sound = true;
    for entry in srat.entries() {
        if let Body::BadLength { kind, length } = entry.body {
            findings.add(Finding::at(entry.place(), Kind::SratBadEntryLength { kind, length }));
            sound = false;
        }
    }
    sound
}

/// The first walk: types 0, 2 and 5. What is neither these nor memory is named here.
fn cpus_and_initiators<'m>(
    srat: &Srat<'_>,
    max_apic_id: u32,
    domains: &mut Domains<'_>,
    room: &'m mut [CpuRecord],
    findings: &mut dyn Findings,
) -> (&'m mut [CpuRecord], NodeSet) {
    let mut records = Fill::new(room);
    let mut full = false;
    let mut initiators = NodeSet::EMPTY;
    for entry in srat.entries() {
        let mut find = |kind| findings.add(Finding::at(entry.place(), kind));
        if entry.surplus > 0 {
            find(Kind::SratEntryOversize { bytes: entry.surplus });
        }
        match entry.body {
            Body::Cpu(cpu) if cpu.enabled && cpu.x2apic && cpu.apic.0 > max_apic_id => {
                find(Kind::SratCpuIdTooHigh { apic: cpu.apic.0, max: max_apic_id });
            }
            Body::Cpu(cpu) if cpu.enabled => {
                let node = name(domains, cpu.pxm, cpu.high_bits, &mut find);
                let Some(node) = node else { continue };
                let Entry { offset, record, .. } = entry;
                let new = CpuRecord { apic: cpu.apic, node, offset, record, ..CpuRecord::NONE };
                if !records.push(new) && !full {
                    full = true;
                    find(Kind::SratTooManyCpus { limit: records.room() as u32 });
                }
            }
            Body::Initiator(initiator) if initiator.enabled => {
                if let Some(node) = name(domains, initiator.pxm, false, &mut find) {
                    initiators.insert(node);
                }
            }
            Body::Initiator(InitiatorAffinity { pxm, .. }) => {
                find(Kind::SratDisabledGenericInitiator { pxm });
            }
            Body::Other { kind: srat::INITIATOR, length, .. } => {
                find(Kind::SratInitiatorShort { length });
            }
            Body::Other { kind, length, .. } => find(Kind::SratUnknownType { kind, length }),
            Body::Truncated { present } => find(Kind::SratTruncated { present }),
            Body::Cpu(_) | Body::Memory(_) | Body::BadLength { .. } => {}
        }
    }
    (settle(records.finish(), findings), initiators)
}

/// The second walk: type 1.
fn memory(
    srat: &Srat<'_>,
    domains: &mut Domains<'_>,
    blocks: &mut Fill<'_, Block>,
    findings: &mut dyn Findings,
) {
    let mut full = false;
    for entry in srat.entries() {
        let Body::Memory(memory) = entry.body else { continue };
        if !memory.enabled {
            continue;
        }
        let mut find = |kind| findings.add(Finding::at(entry.place(), kind));
        // The domain has its id whatever becomes of the range.
        let node = name(domains, memory.pxm, memory.high_bits, &mut find);
        let MemoryAffinity { pxm, base, length, hotplug, nonvolatile, .. } = memory;
        if length == 0 {
            find(Kind::SratZeroLengthMemory { pxm });
            continue;
        }
        let Some(range) = memory.range() else {
            find(Kind::SratMemoryWraps { base, length });
            continue;
        };
        let Some(node) = node else { continue };
        let Entry { offset, record, .. } = entry;
        let block = Block { range, node, hotplug, nonvolatile, offset, record, ..Block::NONE };
        if !blocks.push(block) && !full {
            full = true;
            find(Kind::SratTooManyRanges { limit: blocks.room() as u32 });
        }
    }
}

/// Says how many disabled records are of domains that no enabled one names.
fn disabled_domains(srat: &Srat<'_>, named: &[Domain], findings: &mut dyn Findings) {
    let disabled = srat.entries().filter_map(|entry| {
        let pxm = match entry.body {
            Body::Cpu(cpu) if !cpu.enabled => cpu.pxm,
            Body::Memory(memory) if !memory.enabled => memory.pxm,
            Body::Initiator(initiator) if !initiator.enabled => initiator.pxm,
            _ => return None,
        };
        domains::find(named, pxm).is_none().then_some((entry.place(), pxm))
    });
    let mut disabled = disabled.peekable();
    let Some(&(place, pxm)) = disabled.peek() else { return };
    let records = disabled.count() as u32;
    findings.add(Finding::at(place, Kind::SratDisabledDomains { pxm, records }));
}

/// The node of a domain that an enabled record names; `None` when there is no id left.
fn name(
    domains: &mut Domains<'_>,
    pxm: ProximityDomain,
    high_bits: bool,
    find: &mut dyn FnMut(Kind),
) -> Option<NodeId> {
    if high_bits {
        find(Kind::SratRev1HighBits { pxm });
    }
    let node = domains.node(pxm);
    if node.is_none() {
        find(Kind::SratTooManyDomains { pxm, limit: domains.named().len() as u32 });
    }
    node
}
