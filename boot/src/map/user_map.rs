//! The firmware's memory map with the changes of `memmap=` and `mem=`, in the host's memory.

use nearmem::PfnRange;
use nearmem::finding::Findings;
use nearmem::options::UserMap;
use nearmem::topology::{ChangeRoom, MapOptions, MemoryMap, Region};

/// Room for the changes.
pub struct Room {
    regions: Vec<Region>,
    wanted: Vec<PfnRange>,
    usable: Vec<PfnRange>,
}

impl Room {
    /// As much as these changes of this map take.
    pub fn new(memory: &MemoryMap<'_>, user: UserMap<'_>) -> Room {
        let regions = memory.usable().len() + user.changes().count();
        Room {
            regions: vec![Region::default(); regions],
            wanted: vec![PfnRange::default(); regions + 2],
            usable: vec![PfnRange::default(); regions + 2 + memory.usable().len()],
        }
    }

    /// The memory map with the changes, or as it is when there are none.
    pub fn apply<'m>(
        &'m mut self,
        memory: MemoryMap<'m>,
        user: UserMap<'_>,
        findings: &mut dyn Findings,
    ) -> MemoryMap<'m> {
        if user.is_empty() {
            return memory;
        }
        let room = ChangeRoom { regions: &mut self.regions, wanted: &mut self.wanted };
        memory.changed(user.changes(), room, &mut self.usable, MapOptions::default(), findings)
    }
}
