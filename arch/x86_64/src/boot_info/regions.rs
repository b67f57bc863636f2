//! Memory-map entries of the firmware (e820 form) to `MemoryRegion`s.

use bootloader_api::info::{MemoryRegion, MemoryRegionKind};

use super::hvm::{REGION_BYTES, bytes_at};

/// The e820 type of RAM (ACPI 6.5, table 15.4).
const E820_RAM: u32 = 1;

/// Converts as many entries as both slices have; says how many. An end beyond 2^64 is cut there.
/// Overlapping, unsorted and empty entries stay as they are.
pub(super) fn from_e820(bytes: &[u8], into: &mut [MemoryRegion]) -> usize {
    let entries = bytes.chunks_exact(REGION_BYTES).map_while(region);
    into.iter_mut().zip(entries).map(|(place, region)| *place = region).count()
}

/// Copies as many regions as fit; says how many.
pub(super) fn copy(regions: &[MemoryRegion], into: &mut [MemoryRegion]) -> usize {
    into.iter_mut().zip(regions).map(|(place, region)| *place = *region).count()
}

fn region(entry: &[u8]) -> Option<MemoryRegion> {
    let start = u64::from_le_bytes(bytes_at(entry, 0)?);
    let length = u64::from_le_bytes(bytes_at(entry, 8)?);
    let kind = match u32::from_le_bytes(bytes_at(entry, 16)?) {
        E820_RAM => MemoryRegionKind::Usable,
        other => MemoryRegionKind::UnknownBios(other),
    };
    Some(MemoryRegion { start, end: start.saturating_add(length), kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(start: u64, length: u64, kind: u32) -> Vec<u8> {
        let mut bytes = start.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend([0xee; 4]);
        bytes
    }

    fn convert(entries: &[Vec<u8>], room: usize) -> Vec<MemoryRegion> {
        let mut regions = vec![MemoryRegion::empty(); room];
        let count = from_e820(&entries.concat(), &mut regions);
        regions.truncate(count);
        regions
    }

    #[test]
    fn kinds_other_than_ram_keep_their_number() {
        let regions = convert(&[entry(0, 0x9fc00, 1), entry(0x9fc00, 0x400, 2)], 4);
        assert_eq!(
            regions,
            [
                MemoryRegion { start: 0, end: 0x9fc00, kind: MemoryRegionKind::Usable },
                MemoryRegion {
                    start: 0x9fc00,
                    end: 0xa0000,
                    kind: MemoryRegionKind::UnknownBios(2)
                },
            ]
        );
    }

    #[test]
    fn order_and_overlap_stay_and_an_end_is_cut_at_the_top() {
        let regions = convert(
            &[entry(0x2000, 0x2000, 1), entry(0x1000, 0x2000, 1), entry(1, u64::MAX, 3)],
            4,
        );
        let bounds: Vec<_> = regions.iter().map(|region| (region.start, region.end)).collect();
        assert_eq!(bounds, [(0x2000, 0x4000), (0x1000, 0x3000), (1, u64::MAX)]);
    }

    #[test]
    fn what_does_not_fit_and_what_is_cut_short_is_left_out() {
        let entries = [entry(0, 1, 1), entry(1, 1, 1), entry(2, 1, 1)];
        assert_eq!(convert(&entries, 2).len(), 2);
        let mut regions = [MemoryRegion::empty(); 4];
        assert_eq!(from_e820(&entries.concat()[..71], &mut regions), 2);
    }
}
