//! A whole machine as bytes: tables, memory map, CPUs and command line in, its node map checked.

use std::collections::BTreeSet;

use nearmem::options;
use nearmem::topology::{
    CacheId, ChangeRoom, Inputs, MapOptions, MemoryMap, Region, RegionKind, StorageNeeds,
    UnlistedCpus,
};
use nearmem::{ApicId, PfnRange, PhysRange};

use crate::map;

/// A machine before it boots.
#[derive(Clone, Default, Debug)]
pub struct Machine {
    /// The whole SRAT.
    pub srat: Option<Vec<u8>>,
    /// The whole SLIT.
    pub slit: Option<Vec<u8>>,
    /// The whole CEDT.
    pub cedt: Option<Vec<u8>>,
    /// The firmware's memory map.
    pub regions: Vec<Region>,
    /// The CPUs that the MADT names as present.
    pub cpus: Vec<ApicId>,
    /// The command line, of which `numa=`, `memmap=` and `mem=` count.
    pub line: String,
    /// In xAPIC mode ids end at 254.
    pub xapic: bool,
    /// How an APIC id names the last-level cache; `None` on Intel.
    pub cache: Option<CacheId>,
    /// Room for a second map that need not be enough.
    pub room: StorageNeeds,
}

/// How many parts a machine in bytes has.
const SECTIONS: usize = 7;
/// Bytes of a region: start, end, kind.
const REGION: usize = 17;

/// Takes a machine as [`Machine::to_bytes`] makes it; what is not there is empty.
pub fn check(bytes: &[u8]) {
    Machine::from_bytes(bytes).check();
}

impl Machine {
    /// Seven lengths, u16 each: SRAT, SLIT, CEDT, regions, CPUs, command line, and the rest; then
    /// these parts. Lengths beyond the end are cut.
    pub fn from_bytes(bytes: &[u8]) -> Machine {
        let (lengths, mut rest) = bytes.split_at(bytes.len().min(2 * SECTIONS));
        let mut sections = [&[][..]; SECTIONS];
        for (section, length) in sections.iter_mut().zip(lengths.chunks_exact(2)) {
            let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
            (*section, rest) = rest.split_at(length.min(rest.len()));
        }
        let [srat, slit, cedt, regions, cpus, line, knobs] = sections;
        let table = |bytes: &[u8]| (!bytes.is_empty()).then(|| bytes.to_vec());
        let knob = |at: usize| knobs.get(at).copied().unwrap_or(0);
        let room = |at: usize| usize::from(knob(at)) % 16;
        Machine {
            srat: table(srat),
            slit: table(slit),
            cedt: table(cedt),
            regions: regions.chunks_exact(REGION).map(region).collect(),
            cpus: cpus.chunks_exact(4).map(|id| ApicId(word(id))).collect(),
            line: String::from_utf8_lossy(line).into_owned(),
            xapic: knob(0) & 1 == 1,
            cache: match knob(0) & 6 {
                2 => Some(CacheId::Shift(knob(1).into())),
                6 => Some(CacheId::Die {
                    socket_shift: knob(1).into(),
                    cpus: knob(9).into(),
                    dies: knob(10).into(),
                }),
                _ => None,
            },
            room: StorageNeeds {
                nodes: room(2),
                ranges: room(3),
                cpus: room(4),
                records: room(5),
                blocks: room(6),
                fake_nodes: room(7),
                fake_blocks: room(8),
            },
        }
    }

    /// The machine as bytes, without [`Machine::cache`] and [`Machine::room`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let regions: Vec<u8> = self.regions.iter().flat_map(region_bytes).collect();
        let cpus: Vec<u8> = self.cpus.iter().flat_map(|apic| apic.0.to_le_bytes()).collect();
        let table = |table: &Option<Vec<u8>>| table.clone().unwrap_or_default();
        let sections: [Vec<u8>; SECTIONS] = [
            table(&self.srat),
            table(&self.slit),
            table(&self.cedt),
            regions,
            cpus,
            self.line.clone().into_bytes(),
            vec![u8::from(self.xapic)],
        ];
        let length = |section: &Vec<u8>| u16::try_from(section.len()).unwrap_or(u16::MAX);
        let lengths = sections.iter().flat_map(|section| length(section).to_le_bytes());
        lengths.chain(sections.iter().flatten().copied()).collect()
    }

    /// Builds its node map from the command line on, and checks all that must hold.
    pub fn check(&self) {
        let read = options::parse(&self.line, &mut |_| ());
        let mut regions = self.regions.clone();
        let mut room = vec![PfnRange::default(); regions.len() + 2];
        let options = MapOptions::default();
        let firmware = MemoryMap::build(&mut regions, &mut room, options, &mut |_| ());
        let changes = read.user_map.changes().count();
        let mut scratch = vec![Region::default(); firmware.usable().len() + changes];
        let mut wanted = vec![PfnRange::default(); scratch.len() + 2];
        let mut usable = vec![PfnRange::default(); firmware.usable().len() + wanted.len()];
        let scratch = ChangeRoom { regions: &mut scratch, wanted: &mut wanted };
        let changes = read.user_map.changes();
        let memory = firmware.changed(changes, scratch, &mut usable, options, &mut |_| ());
        // A CPU has one id of its own.
        let mut seen = BTreeSet::new();
        let cpus: Vec<_> = self.cpus.iter().copied().filter(|&apic| seen.insert(apic)).collect();
        let inputs = Inputs {
            srat: self.srat.as_deref(),
            slit: self.slit.as_deref(),
            cedt: self.cedt.as_deref(),
            cpus: &cpus,
            unlisted: match self.cache {
                Some(cache) => UnlistedCpus::ByCache(cache),
                None => UnlistedCpus::Dealt,
            },
            max_apic_id: if self.xapic { Inputs::XAPIC } else { Inputs::X2APIC },
            numa: read.numa,
            fake: read.fake,
            ..Inputs::new(&memory)
        };
        map::check(&inputs, self.room);
    }
}

fn region(bytes: &[u8]) -> Region {
    let long = |at: usize| u64::from(word(&bytes[at..])) | u64::from(word(&bytes[at + 4..])) << 32;
    let kind = if bytes[16] & 1 == 0 { RegionKind::Usable } else { RegionKind::Other };
    Region { range: PhysRange::new(long(0), long(8)), kind }
}

fn region_bytes(region: &Region) -> Vec<u8> {
    let Region { range, kind } = region;
    let kind = u8::from(*kind != RegionKind::Usable);
    [&range.start.0.to_le_bytes()[..], &range.end.0.to_le_bytes(), &[kind]].concat()
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().unwrap())
}
