//! Boot memory for the subsystem's own tables, node by node.

use crate::ids::NodeId;
use crate::memblock::{BootAllocError, BootRequest, MemBlock};
use crate::platform::PhysMap;
use crate::topology::NodeMap;
use crate::units::{PhysAddr, PhysRange};
use crate::zone::{RawMemory, Zone, ZoneId, zone_span};

use super::HandOverError;

/// Reserved ranges that a zone can come to have besides those that boot memory knows when it is made:
/// the tables made after it are one at most, where they do not touch it.
const MORE_RESERVED: u64 = 2;

/// Takes boot memory that stays for `'m`, and makes slices and zones of it.
pub(super) struct BootRoom<'a, 'b, 'm, P> {
    boot: &'a mut MemBlock<'b>,
    map: &'m NodeMap<'m>,
    platform: &'a P,
}

impl<'a, 'b, 'm, P: PhysMap> BootRoom<'a, 'b, 'm, P> {
    /// # Safety
    /// All that `boot` gives out is RAM, reachable through the platform for `'m`, and nobody
    /// else's for as long.
    pub(super) unsafe fn new(
        boot: &'a mut MemBlock<'b>,
        map: &'m NodeMap<'m>,
        platform: &'a P,
    ) -> Self {
        BootRoom { boot, map, platform }
    }

    /// `bytes` on `node`; elsewhere only when the node has no room.
    pub(super) fn take(
        &mut self,
        node: NodeId,
        bytes: u64,
    ) -> Result<(RawMemory<'m>, PhysRange), HandOverError> {
        let range = self.range(node, bytes)?;
        // SAFETY: the range was just taken from boot memory, which `new` says is ours for `'m`;
        // the platform maps all of it at one pointer.
        let raw = unsafe { RawMemory::new(self.platform.phys_to_virt(range.start), range.len()) };
        Ok((raw, range))
    }

    /// A slice of `count` values on `node`.
    pub(super) fn slice<T>(
        &mut self,
        node: NodeId,
        count: usize,
        value: impl FnMut(u64) -> Option<T>,
    ) -> Result<&'m mut [T], HandOverError> {
        let bytes = RawMemory::bytes_for::<T>(count as u64);
        self.take(node, bytes)?.0.slice(count as u64, value).ok_or(no_room(bytes))
    }

    /// A zone and its metadata on the zone's node, the zone itself last.
    pub(super) fn zone(&mut self, id: ZoneId, index: u16) -> Result<&'m Zone<'m>, HandOverError> {
        let own = size_of::<Zone<'_>>() as u64;
        let reserved = self.boot.reserved_within(zone_span(self.map, id).span.bytes());
        let metadata = Zone::metadata_bytes(self.map, id, reserved + MORE_RESERVED);
        let bytes = own.saturating_add(metadata);
        let range = self.range(id.node, bytes)?;
        let end = PhysAddr(range.start.0 + metadata);
        // SAFETY: the range was just taken from boot memory, which `new` says is ours for `'m`.
        // The zone itself gets what is behind `end`, its metadata what is before.
        let (mut raw, mut zone) = unsafe {
            let raw = RawMemory::new(self.platform.phys_to_virt(end), own);
            let metadata = PhysRange { start: range.start, end };
            (raw, Zone::new(self.map, id, index, metadata, self.platform))
        };
        let place = raw.packed(1, |_| zone.take()).ok_or(no_room(bytes))?;
        place.first().ok_or(no_room(bytes))
    }

    fn range(&mut self, node: NodeId, bytes: u64) -> Result<PhysRange, HandOverError> {
        let align = RawMemory::ALIGN as u64;
        // Rounded up, so that what follows touches it: boot memory lists both as one range.
        let bytes = bytes.max(align).checked_next_multiple_of(align).unwrap_or(bytes);
        let request = BootRequest { bytes, align, node: Some(node), strict: false };
        Ok(self.boot.alloc(request).map_err(HandOverError::NoRoom)?.range)
    }
}

fn no_room(bytes: u64) -> HandOverError {
    HandOverError::NoRoom(BootAllocError::NoRoom { bytes })
}
