//! Node maps and zones made by hand.

use nearmem::platform::{CpuToken, PhysMap};
use nearmem::topology::{HeapRoom, NodeMap, NodeRange, StorageNeeds};
use nearmem::zone::{FreeError, ReleaseError, Zone, ZoneId, ZoneKind};
use nearmem::{CpuId, NodeId, Order, Pfn, PfnRange, PhysAddr, PhysRange};

use crate::memory::{Line, batches};

/// The id of a zone.
pub fn zone_id(node: u16, kind: ZoneKind) -> ZoneId {
    ZoneId { node: NodeId(node), kind }
}

/// Builds a map of ranges `(node, first frame, end)` and lends it to `test`.
pub fn with_map<R>(ranges: &[(u16, u64, u64)], test: impl FnOnce(&NodeMap<'_>) -> R) -> R {
    let ranges: Vec<NodeRange> = ranges
        .iter()
        .map(|&(node, start, end)| NodeRange {
            frames: PfnRange::new(start, end),
            node: NodeId(node),
        })
        .collect();
    let nodes = ranges.iter().map(|range| range.node.index() + 1).max().unwrap_or(1);
    let needs = StorageNeeds { nodes, ranges: ranges.len(), ..StorageNeeds::default() };
    let mut room = HeapRoom::new(needs);
    let far = |from, to| if from == to { 10 } else { 20 };
    test(&NodeMap::from_parts(&ranges, &[], far, room.storage()))
}

/// RAM for metadata, full of garbage: physical addresses begin at 0.
pub struct Ram {
    lines: *mut [Line],
}

impl Ram {
    pub fn new(bytes: u64) -> Ram {
        let lines = vec![Line([0xa5; 64]); bytes.div_ceil(64) as usize].into_boxed_slice();
        Ram { lines: Box::into_raw(lines) }
    }

    /// Bytes that are still as they were at first. Only while no zone works in it.
    pub fn garbage(&self) -> u64 {
        // SAFETY: the memory is valid, initialised, and nobody writes to it at the moment.
        unsafe { &*self.lines }.iter().map(Line::garbage).sum()
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        // SAFETY: it came from `Box::into_raw`, and the zones in it are gone: they borrow the
        // `Ram` or end before it.
        drop(unsafe { Box::from_raw(self.lines) });
    }
}

// SAFETY: all of the memory is valid and contiguous until the `Ram` is dropped.
unsafe impl PhysMap for Ram {
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        self.lines.cast::<u8>().wrapping_add(addr.0 as usize)
    }
}

/// How many reserved ranges the zones of tests have room for.
pub const RESERVED: u64 = 120;

/// A zone in memory of its own, all frames reserved.
pub fn with_zone<R>(map: &NodeMap<'_>, id: ZoneId, test: impl FnOnce(&Zone<'_>) -> R) -> R {
    let bytes = Zone::metadata_bytes(map, id, RESERVED);
    let ram = Ram::new(bytes);
    // SAFETY: the memory is the zone's alone, and lives longer.
    let zone = unsafe { Zone::new(map, id, 7, PhysRange::new(0, bytes), &ram) };
    test(&zone.expect("the memory is as large as was asked for"))
}

/// The proof that a test needs.
pub fn token(cpu: u16) -> CpuToken {
    // SAFETY: each thread of these tests is a CPU of its own, and nothing interrupts it.
    unsafe { CpuToken::assume(CpuId(cpu)) }
}

/// Releases all frames of a zone.
pub fn release_all(zone: &Zone<'_>) {
    for &range in zone.ranges() {
        zone.open(&token(0), range).unwrap();
    }
}

/// The zone's unsafe door under other names: these tests own all frames of their zones, use none of
/// them, and want to see what the zone says to every misuse.
pub trait RawZone {
    fn open(&self, token: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError>;
    fn give(&self, token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError>;
    fn give_batch(&self, token: &CpuToken, frames: &[Pfn]) -> Option<FreeError>;
}

impl RawZone for Zone<'_> {
    fn open(&self, token: &CpuToken, frames: PfnRange) -> Result<(), ReleaseError> {
        // SAFETY: nothing but the zone knows the frames, and it never looks into them.
        unsafe { self.release(token, frames) }
    }

    fn give(&self, token: &CpuToken, block: Pfn, order: Order) -> Result<(), FreeError> {
        // SAFETY: as above.
        unsafe { self.put(token, block, order) }
    }

    fn give_batch(&self, token: &CpuToken, frames: &[Pfn]) -> Option<FreeError> {
        batches(frames).fold(None, |first, batch| {
            // SAFETY: as above.
            let error = unsafe { self.put_batch(token, &batch) };
            first.or(error)
        })
    }
}
