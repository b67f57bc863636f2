//! The node map to boot memory: all RAM, less what is in use already.

use nearmem::memblock::{BootRequest, MemBlock, Storage};
use nearmem::topology::{NodeMap, NodeRange};
use nearmem::{PAGE_SIZE, PhysRange};
use nearmem_x86_64::paging::{self, Summary};
use nearmem_x86_64::{Boot, X86Platform, cpuid, println};
use spin::{Mutex, MutexGuard};

use crate::acpi::Tables;

const RANGES: usize = 4096;

struct Static {
    memory: [NodeRange; RANGES],
    reserved: [PhysRange; RANGES],
}

static STATIC: Mutex<Static> = Mutex::new(Static {
    memory: [NodeRange::NONE; RANGES],
    reserved: [PhysRange::new(0, 0); RANGES],
});

/// Boot memory with the kernel image, firmware tables and the loader's own memory taken out. To be
/// called once.
pub fn build(boot: &Boot, tables: &Tables, map: &NodeMap<'_>) -> MemBlock<'static> {
    let Static { memory, reserved } = MutexGuard::leak(STATIC.lock());
    let mut boot_memory = MemBlock::new(map, Storage { memory, reserved });
    for range in paging::image_ranges() {
        println!("Kernel image at {range}");
    }
    // Frame 0 is never handed out: a null pointer must not be memory.
    let taken = [PhysRange::new(0, PAGE_SIZE)].into_iter().chain(paging::image_ranges());
    let taken = taken.chain(tables.places).chain(loader_memory(boot));
    for range in taken.filter(|range| !range.is_empty()) {
        boot_memory.reserve(range).expect("4096 reserved ranges are enough for any loader");
    }
    if boot_memory.left_out() > 0 {
        println!("warning: {} frames of boot memory found no room", boot_memory.left_out());
    }
    boot_memory
}

/// Builds the kernel's own page tables in boot memory, all memory of the map in the direct map, and
/// switches to them. From here on only memory of the map and the firmware's tables can be read.
pub fn map_all(map: &NodeMap<'_>, tables: &Tables, boot_memory: &mut MemBlock<'_>) -> X86Platform {
    let memory = map.ranges().iter().map(|range| range.frames.bytes());
    let ranges = memory.chain(tables.places.into_iter().filter(|range| !range.is_empty()));
    let cpu = cpuid::this_cpu();
    if !cpu.no_execute {
        println!("warning: this CPU cannot forbid execution: data can be executed");
    }
    let page = BootRequest { bytes: PAGE_SIZE, align: PAGE_SIZE, node: None, strict: false };
    let frames = || boot_memory.alloc(page).ok().map(|block| block.range.start);
    // SAFETY: the doors' page tables are in force; boot memory gives each frame once, the lowest
    // first: above 4 GiB only when there is none below, which `build` refuses.
    let new = unsafe { paging::build(&cpu, ranges, frames) };
    let new = new.unwrap_or_else(|error| panic!("page tables: {error:?}"));
    let Summary { direct_map, image, table_frames, .. } = new.summary();
    println!(
        "Direct map: {} GiB, {} 2 MiB and {} 4 KiB pages; image: {} pages of 4 KiB; \
         {table_frames} frames of page tables",
        direct_map.gib, direct_map.mib2, direct_map.kib4, image.kib4
    );
    // SAFETY: nobody holds on to the first 4 GiB as such; boot data lie in the image, firmware
    // tables in the direct map.
    X86Platform::new(unsafe { new.switch() })
}

/// What the loader has taken for itself and for us, page tables in force included.
fn loader_memory(boot: &Boot) -> impl Iterator<Item = PhysRange> + '_ {
    use bootloader_api::info::MemoryRegionKind::Bootloader;
    let regions = boot.info.memory_regions.iter().filter(|region| region.kind == Bootloader);
    regions.map(|region| PhysRange::new(region.start, region.end))
}
