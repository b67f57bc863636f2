//! The memory map of `memmap=` and `mem=`: the firmware's map in, what is left of it out.

use nearmem::PfnRange;
use nearmem::finding::{Finding, Findings, Kind};
use nearmem::options::UserMap;
use nearmem::topology::{ChangeRoom, MapOptions, MemoryMap, Region, RegionKind};
use nearmem_x86_64::{boot_info, println};
use spin::{Mutex, MutexGuard};

use crate::findings::Report;

/// As many as the firmware's map can have, and a command line: an item takes 4 characters.
const REGIONS: usize = boot_info::MAX_REGIONS + boot_info::MAX_COMMAND_LINE / 4;

/// With fewer frames below 4 GiB the page tables and the hash tables may find no place: what the
/// smallest machine of the launcher has, 32 MiB, less 1 MiB for the BIOS.
const LEAST: u64 = 31 << 8;
const BELOW_4_GIB: PfnRange = PfnRange::new(0, 1 << 20);

struct Static {
    regions: [Region; REGIONS],
    wanted: [PfnRange; REGIONS + 2],
    usable: [PfnRange; REGIONS + 2 + boot_info::MAX_REGIONS],
}

static STATIC: Mutex<Static> = Mutex::new(Static {
    regions: [Region::new(0, 0, RegionKind::Usable); REGIONS],
    wanted: [PfnRange::new(0, 0); REGIONS + 2],
    usable: [PfnRange::new(0, 0); REGIONS + 2 + boot_info::MAX_REGIONS],
});

/// Does the user's changes, logs the result, and keeps to the firmware's map when they leave too
/// little to boot with. `rules` are those that `firmware` was built with. To be called once.
pub fn apply(
    firmware: MemoryMap<'static>,
    user: UserMap<'_>,
    rules: MapOptions,
) -> MemoryMap<'static> {
    if user.is_empty() {
        return firmware;
    }
    let Static { regions, wanted, usable } = MutexGuard::leak(STATIC.lock());
    let room = ChangeRoom { regions, wanted };
    let map = firmware.changed(user.changes(), room, usable, rules, &mut Report);
    println!("User-defined memory map: {} ranges", map.usable().len());
    for range in map.usable() {
        println!("  {} usable", range.bytes());
    }
    let low = map.usable().iter().map(|range| range.intersect(BELOW_4_GIB));
    let frames = low.map(PfnRange::len).sum();
    if frames < LEAST {
        Report.add(Finding::new(Kind::MemmapTooLittle { frames, least: LEAST }));
        return firmware;
    }
    map
}
