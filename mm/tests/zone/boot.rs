//! From boot memory to zones: no frame is lost, and none counted twice (FR-20, FR-64, FR-75).

use nearmem::memblock::{BootRequest, MemBlock, Storage};
use nearmem::topology::NodeRange;
use nearmem::zone::{Cursor, Zone, ZoneId, ZoneKind};
use nearmem::{Order, PAGE_SIZE, PhysRange};
use proptest::prelude::*;

use crate::machine::{RESERVED, Ram, RawZone as _, token, with_map};

/// Ranges of up to 3 nodes, around the limits of the zones as well.
fn memory() -> impl Strategy<Value = Vec<(u16, u64, u64)>> {
    let base = prop_oneof![Just(1_u64), Just(0xf00), Just(0xff_f00), Just(1 << 33)];
    prop::collection::vec((0..3_u16, 1..600_u64, 0..40_u64), 1..12).prop_flat_map(move |parts| {
        base.clone().prop_map(move |base| {
            let mut at = base;
            parts
                .iter()
                .map(|&(node, len, gap)| {
                    let start = at + gap;
                    at = start + len;
                    (node, start, at)
                })
                .collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 64 }, max_shrink_iters: 400, ..Default::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn managed_and_reserved_are_usable(
        memory in memory(),
        reserved in prop::collection::vec((0..10_000_u64, 1..50_000_u64), 0..12),
    ) {
        with_map(&memory, |map| {
            let mut ranges = [NodeRange::NONE; 16];
            let mut taken = [PhysRange::default(); 64];
            let mut boot =
                MemBlock::new(map, Storage { memory: &mut ranges, reserved: &mut taken });
            let base = memory[0].1 * PAGE_SIZE;
            for &(at, bytes) in &reserved {
                let start = base + at * 977;
                boot.reserve(PhysRange::new(start, start + bytes)).unwrap();
            }
            let usable: u64 = memory.iter().map(|&(_, start, end)| end - start).sum();
            hand_over(map, boot, usable)
        })?;
    }
}

/// Makes all zones of the map with metadata from boot memory and gives them what is free.
fn hand_over(
    map: &nearmem::topology::NodeMap<'_>,
    mut boot: MemBlock<'_>,
    usable: u64,
) -> Result<(), TestCaseError> {
    let ids: Vec<ZoneId> = map
        .with_memory()
        .iter()
        .flat_map(|node| ZoneKind::ALL.map(|kind| ZoneId { node, kind }))
        .collect();
    for &id in &ids {
        let bytes = Zone::metadata_bytes(map, id, RESERVED);
        if bytes > 0 {
            // With little memory there may be no room; then the zone's memory is the test's only.
            let _ =
                boot.alloc(BootRequest { bytes, align: 64, node: Some(id.node), strict: false });
        }
    }
    let rams: Vec<Ram> =
        ids.iter().map(|&id| Ram::new(Zone::metadata_bytes(map, id, RESERVED))).collect();
    let zones: Vec<Zone<'_>> = ids
        .iter()
        .zip(&rams)
        .enumerate()
        .map(|(index, (&id, ram))| {
            let memory = PhysRange::new(0, Zone::metadata_bytes(map, id, RESERVED));
            // SAFETY: the memory is this zone's alone; the zones are dropped before it.
            unsafe { Zone::new(map, id, index as u16, memory, ram) }.unwrap()
        })
        .collect();
    let mut free = 0;
    for range in boot.free_ranges() {
        free += range.frames.len();
        for kind in ZoneKind::ALL {
            let part = range.frames.intersect(kind.frames());
            let id = ZoneId { node: range.node, kind };
            if let (false, Some(zone)) =
                (part.is_empty(), zones.iter().find(|zone| zone.id() == id))
            {
                zone.open(&token(0), part).unwrap();
            }
        }
    }
    let reserved: u64 = map
        .with_memory()
        .iter()
        .map(|node| boot.usage(node))
        .map(|usage| {
            assert_eq!(usage.memory % PAGE_SIZE, 0);
            usage.reserved
        })
        .sum();
    let managed: u64 = zones.iter().map(Zone::managed).sum();
    prop_assert_eq!(managed, free);
    prop_assert_eq!(zones.iter().map(Zone::free).sum::<u64>(), free);
    prop_assert_eq!(zones.iter().map(Zone::present).sum::<u64>(), usable);
    // Frames that are reserved in part are not free.
    prop_assert!(managed + reserved / PAGE_SIZE <= usable);
    prop_assert!(
        managed * PAGE_SIZE + reserved + boot.reserved().len() as u64 * 2 * PAGE_SIZE
            >= usable * PAGE_SIZE
    );
    // FR-69: nothing that is reserved comes out.
    for zone in &zones {
        let cursor = Cursor::new();
        while let Some(frame) = zone.take(&token(0), &cursor, Order::ZERO) {
            let bytes = PhysRange { start: frame.addr(), end: (frame + 1).addr() };
            prop_assert_eq!(map.node_of(frame), Some(zone.id().node));
            prop_assert!(boot.reserved().iter().all(|reserved| !reserved.overlaps(bytes)));
        }
    }
    Ok(())
}
