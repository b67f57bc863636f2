//! Both loaders' data to a [`Boot`].

use core::mem::MaybeUninit;

use bootloader_api::BootInfo;
use bootloader_api::info::{MemoryRegion, MemoryRegionKind, MemoryRegions, Optional};

use super::{MAX_COMMAND_LINE, MAX_REGIONS, command_line, regions};
use crate::layout::DIRECT_MAP;
use crate::{Boot, Door};

/// Where the converted data lie.
#[derive(Debug)]
pub struct Storage {
    regions: [MemoryRegion; MAX_REGIONS],
    command_line: [u8; MAX_COMMAND_LINE],
    info: MaybeUninit<BootInfo>,
}

impl Storage {
    /// An empty one.
    pub const fn new() -> Storage {
        // All zeroes, so that it lies in .bss.
        let nothing = MemoryRegion { start: 0, end: 0, kind: MemoryRegionKind::Usable };
        Storage {
            regions: [nothing; MAX_REGIONS],
            command_line: [0; MAX_COMMAND_LINE],
            info: MaybeUninit::uninit(),
        }
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self::new()
    }
}

/// What a PVH loader left in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// The command line, up to a zero byte or to the end.
    pub command_line: &'a [u8],
    /// Entries of the memory map, [`super::REGION_BYTES`] each; not more than fit are needed.
    pub regions: &'a [u8],
    /// How many entries the loader counts.
    pub region_count: usize,
    /// Physical address of the RSDP; 0 when there is none.
    pub rsdp: u64,
}

/// The boot data of a PVH loader.
pub fn from_pvh(parts: Parts<'_>, storage: &'static mut Storage) -> Boot {
    let Storage { regions, command_line, info } = storage;
    let kept = regions::from_e820(parts.regions, regions);
    let (command_line, command_line_cut) = command_line::copy(parts.command_line, command_line);
    let mut new = BootInfo::new(first(regions, kept));
    new.physical_memory_offset = Optional::Some(DIRECT_MAP.0);
    new.rsdp_addr = if parts.rsdp == 0 { Optional::None } else { Optional::Some(parts.rsdp) };
    Boot {
        info: info.write(new),
        command_line,
        command_line_cut,
        door: Door::Pvh,
        dropped_regions: parts.region_count.saturating_sub(kept),
    }
}

/// The boot data of the `bootloader` crate. Its `BootInfo` has no command line: `ramdisk`, if there
/// is one, is a text file that holds it.
pub fn from_bootloader(old: &BootInfo, ramdisk: &[u8], storage: &'static mut Storage) -> Boot {
    let Storage { regions, command_line, info } = storage;
    let kept = regions::copy(&old.memory_regions, regions);
    let (command_line, command_line_cut) = command_line::copy(ramdisk, command_line);
    let mut new = BootInfo::new(first(regions, kept));
    new.api_version = old.api_version;
    new.physical_memory_offset = old.physical_memory_offset;
    new.rsdp_addr = old.rsdp_addr;
    new.kernel_addr = old.kernel_addr;
    new.kernel_len = old.kernel_len;
    new.kernel_image_offset = old.kernel_image_offset;
    Boot {
        info: info.write(new),
        command_line: command_line.trim_ascii_end(),
        command_line_cut,
        door: Door::Bootloader,
        dropped_regions: old.memory_regions.len() - kept,
    }
}

fn first(regions: &'static mut [MemoryRegion], count: usize) -> MemoryRegions {
    regions.split_at_mut(count).0.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bootloader_api::info::MemoryRegionKind::{Bootloader, UnknownBios, Usable};

    fn storage() -> &'static mut Storage {
        Box::leak(Box::new(Storage::new()))
    }

    fn e820(start: u64, length: u64, kind: u32) -> [u8; 24] {
        let mut entry = [0; 24];
        entry[..8].copy_from_slice(&start.to_le_bytes());
        entry[8..16].copy_from_slice(&length.to_le_bytes());
        entry[16..20].copy_from_slice(&kind.to_le_bytes());
        entry
    }

    #[test]
    fn both_doors_give_the_same() {
        let map = [e820(0, 0x9fc00, 1), e820(0xf0000, 0x10000, 2), e820(1 << 20, 64 << 20, 1)];
        let pvh = from_pvh(
            Parts {
                command_line: b"hashdist=0\0",
                regions: map.as_flattened(),
                region_count: 3,
                rsdp: 0xf5ad0,
            },
            storage(),
        );
        let regions = vec![
            MemoryRegion { start: 0, end: 0x9fc00, kind: Usable },
            MemoryRegion { start: 0xf0000, end: 0x100000, kind: UnknownBios(2) },
            MemoryRegion { start: 1 << 20, end: 65 << 20, kind: Usable },
        ];
        let mut info = BootInfo::new(regions.leak().into());
        info.rsdp_addr = Optional::Some(0xf5ad0);
        info.physical_memory_offset = Optional::Some(DIRECT_MAP.0);
        let disk = from_bootloader(&info, b"hashdist=0\n", storage());

        for boot in [&pvh, &disk] {
            assert_eq!(boot.command_line, "hashdist=0");
            assert_eq!((boot.command_line_cut, boot.dropped_regions), (0, 0));
            assert_eq!(boot.info.physical_memory_offset, Optional::Some(DIRECT_MAP.0));
            assert_eq!(boot.info.rsdp_addr, Optional::Some(0xf5ad0));
            assert_eq!(boot.info.memory_regions[..], info.memory_regions[..]);
        }
        assert_eq!((pvh.door, disk.door), (Door::Pvh, Door::Bootloader));
    }

    #[test]
    fn regions_beyond_the_room_are_counted() {
        let map = vec![e820(0, 1, 1); MAX_REGIONS];
        let parts = Parts {
            regions: map.as_flattened(),
            region_count: MAX_REGIONS + 7,
            ..Parts::default()
        };
        let boot = from_pvh(parts, storage());
        assert_eq!((boot.info.memory_regions.len(), boot.dropped_regions), (MAX_REGIONS, 7));

        let regions = vec![MemoryRegion { start: 0, end: 1, kind: Bootloader }; MAX_REGIONS + 3];
        let boot = from_bootloader(&BootInfo::new(regions.leak().into()), &[], storage());
        assert_eq!((boot.info.memory_regions.len(), boot.dropped_regions), (MAX_REGIONS, 3));
    }

    #[test]
    fn a_loader_that_says_nothing_gives_nothing() {
        let boot = from_pvh(Parts::default(), storage());
        assert_eq!(boot.info.rsdp_addr, Optional::None);
        assert_eq!((boot.command_line, boot.info.memory_regions.len()), ("", 0));
    }
}
