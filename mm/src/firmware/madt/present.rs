//! A MADT -> the present CPUs in the order of their numbers, each once.

use core::fmt;

use super::{Body, CpuState, Madt, SIGNATURE};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::ids::ApicId;

/// Room for the search of ids that were seen before, one for each CPU. What it holds beforehand
/// does not matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IdLinks {
    /// The ids below this one in the tree, by the next bit of theirs; 0 is none, since the first
    /// id is below no other.
    below: [u16; 2],
}

impl IdLinks {
    /// Nothing below, to fill room with.
    pub const NONE: IdLinks = IdLinks { below: [0; 2] };
}

/// How many CPUs there are. Prints as `4 enabled, 2 online capable, 1 disabled`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuCounts {
    /// Present ones, each once.
    pub present: usize,
    /// Records of CPUs that may come while the system runs.
    pub online_capable: u32,
    /// Records of CPUs that are not there.
    pub disabled: u32,
}

impl fmt::Display for CpuCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CpuCounts { present, online_capable, disabled } = self;
        write!(f, "{present} enabled, {online_capable} online capable, {disabled} disabled")
    }
}

/// The present CPUs in the order of their numbers, the first ones of `ids`: `boot` if there is
/// one, then the MADT's present ones in table order, each once. Says how many there are, of others
/// too.
///
/// `ids` and `links` are as long as there are to be CPUs at most, and 65536 at most. Damage,
/// repeats, a boot CPU that is not listed and CPUs beyond the room are findings.
pub fn present(
    madt: Option<&Madt<'_>>,
    boot: Option<ApicId>,
    ids: &mut [ApicId],
    links: &mut [IdLinks],
    findings: &mut dyn Findings,
) -> CpuCounts {
    let mut cpus = Ids { ids, links, count: 0 };
    let mut counts = CpuCounts::default();
    let mut beyond = 0_u32;
    if let Some(boot) = boot {
        beyond += u32::from(cpus.insert(boot) == Inserted::NoRoom);
    }
    let mut boot_is_listed = boot.is_none();
    for entry in madt.iter().flat_map(|madt| madt.entries()) {
        let mut find = |kind| findings.add(Finding::at(entry.place(), kind));
        let cpu = match entry.body {
            Body::Cpu(cpu) => cpu,
            Body::BadLength { kind, length } => {
                find(Kind::MadtBadEntryLength { kind, length });
                continue;
            }
            Body::Truncated { present } => {
                find(Kind::MadtTruncated { present });
                continue;
            }
            Body::LocalApicAddress(_) | Body::Other { .. } => continue,
        };
        match cpu.state {
            CpuState::Present if Some(cpu.apic) == boot && !boot_is_listed => boot_is_listed = true,
            CpuState::Present => match cpus.insert(cpu.apic) {
                Inserted::New => {}
                Inserted::Known => find(Kind::MadtCpuListedTwice { apic: cpu.apic.0 }),
                Inserted::NoRoom => beyond += 1,
            },
            CpuState::OnlineCapable => counts.online_capable += 1,
            CpuState::Disabled => counts.disabled += 1,
            CpuState::Nobody => {}
        }
    }
    let whole = Place::table(SIGNATURE);
    match (madt, boot) {
        (None, _) => findings.add(Finding::at(whole, Kind::MadtAbsent)),
        (Some(_), Some(boot)) if !boot_is_listed => {
            findings.add(Finding::at(whole, Kind::MadtWithoutBootCpu { apic: boot.0 }));
        }
        _ => {}
    }
    counts.present = cpus.count;
    if beyond > 0 {
        let limit = counts.present as u32;
        findings.add(Finding::new(Kind::CpuTooMany { found: limit + beyond, limit }));
    }
    counts
}

/// Ids in the order in which they came, each once, and a tree over them: at depth `n` the `n`th bit
/// of the id that is looked for, from the top, says where to go on. So no search takes more than 33
/// steps, whatever the ids are.
struct Ids<'m> {
    ids: &'m mut [ApicId],
    links: &'m mut [IdLinks],
    count: usize,
}

#[derive(PartialEq, Eq)]
enum Inserted {
    New,
    Known,
    NoRoom,
}

impl Ids<'_> {
    fn insert(&mut self, id: ApicId) -> Inserted {
        let (mut above, mut bits) = (None, id.0);
        let mut at = (self.count > 0).then_some(0);
        while let Some(here) = at {
            if self.ids.get(here) == Some(&id) {
                return Inserted::Known;
            }
            let bit = usize::from(bits >> 31 != 0);
            bits <<= 1;
            above = Some((here, bit));
            at = self.below(here, bit);
        }
        let new = self.count;
        let room = self.ids.get_mut(new).zip(self.links.get_mut(new));
        let Some(((slot, links), link)) = room.zip(u16::try_from(new).ok()) else {
            return Inserted::NoRoom;
        };
        *slot = id;
        *links = IdLinks::NONE;
        self.count += 1;
        if let Some((at, bit)) = above
            && let Some(below) = self.links.get_mut(at).and_then(|links| links.below.get_mut(bit))
        {
            *below = link;
        }
        Inserted::New
    }

    fn below(&self, at: usize, bit: usize) -> Option<usize> {
        let link = *self.links.get(at)?.below.get(bit)?;
        (link != 0).then_some(link.into())
    }
}
