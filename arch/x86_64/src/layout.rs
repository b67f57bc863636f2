//! Where things are in the virtual address space: Linux's layout for four levels of page tables
//! (docs/decisions: "Addresses as Linux's 4-level layout"). All sizes in bytes.

use nearmem::VirtAddr;

/// Start of the direct map: the byte at physical address `p` is at `DIRECT_MAP + p`.
pub const DIRECT_MAP: VirtAddr = VirtAddr(0xffff_8880_0000_0000);
/// Physical addresses from here on are out of the direct map's reach: 64 TiB.
pub const DIRECT_MAP_SIZE: u64 = 64 << 40;

/// Start of the vmalloc range.
pub const VMALLOC: VirtAddr = VirtAddr(0xffff_c900_0000_0000);
/// How much of Linux's 32 TiB vmalloc gets: one entry of the root table, 512 GiB. The largest user,
/// the hash tables of a machine with 64 TiB, stays below a quarter of it. The table behind the entry
/// is there from the start and is never given back, so that the root never changes.
pub const VMALLOC_SIZE: u64 = 512 << 30;

/// Start of the areas of the CPUs, at which Linux has its own per-CPU entry areas.
pub const CPU_AREAS: VirtAddr = VirtAddr(0xffff_fe00_0000_0000);
/// How much they get: one entry of the root table, 512 GiB.
pub const CPU_AREAS_SIZE: u64 = 512 << 30;

/// Where device registers are mapped: one last-level table, 512 pages.
pub const MMIO: VirtAddr = VirtAddr(0xffff_ffff_ff40_0000);

/// What the linker script adds to the physical address that PVH loads an image byte at.
pub const IMAGE_OFFSET: u64 = 0xffff_ffff_8000_0000;

/// How much physical memory the page tables of both doors map at [`DIRECT_MAP`]: 4 GiB.
pub const BOOT_DIRECT_MAP_SIZE: u64 = 4 << 30;
