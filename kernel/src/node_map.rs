//! Firmware tables and the memory map to the node map, in memory of the kernel image: nothing can
//! be allocated yet.

use core::ops::Range;

use bootloader_api::info::MemoryRegionKind;
use nearmem::finding::{Finding, Findings, Kind};
use nearmem::firmware::madt::IdLinks;
use nearmem::firmware::srat::{Body, Srat};
use nearmem::ids::{MAX_CPUS, MAX_NODES};
use nearmem::options::Options;
use nearmem::topology::{
    Inputs, MapOptions, MemoryMap, NodeMap, Region, RegionKind, Room, UnlistedCpus,
};
use nearmem::{ApicId, PfnRange, PhysAddr, VirtAddr};
use nearmem_x86_64::cpuid::{self, CpuFacts, Vendor};
use nearmem_x86_64::{Boot, boot_info, layout, println};
use spin::{Mutex, MutexGuard};

use crate::acpi::Tables;
use crate::findings::Report;
use crate::user_map;

/// Ranges of memory by node, and memory records of the SRAT.
const RANGES: usize = 4096;
const REGIONS: usize = boot_info::MAX_REGIONS;

struct Static {
    room: Room<MAX_NODES, MAX_CPUS, RANGES>,
    regions: [Region; REGIONS],
    usable: [PfnRange; REGIONS + 2],
    cpus: [ApicId; MAX_CPUS],
    links: [IdLinks; MAX_CPUS],
    map: Option<NodeMap<'static>>,
}

static STATIC: Mutex<Static> = Mutex::new(Static {
    room: Room::new(),
    regions: [Region::new(0, 0, RegionKind::Usable); REGIONS],
    usable: [PfnRange::new(0, 0); REGIONS + 2],
    cpus: [ApicId(0); MAX_CPUS],
    links: [IdLinks::NONE; MAX_CPUS],
    map: None,
});

/// Builds the map and logs what it is made of, as Linux does. To be called once.
pub fn build(boot: &Boot, tables: &Tables, options: &Options<'_>) -> &'static NodeMap<'static> {
    let Static { room, regions, usable, cpus, links, map } = MutexGuard::leak(STATIC.lock());
    let cpu = cpuid::this_cpu();
    let reach = layout::DIRECT_MAP_SIZE.min(cpu.physical_end());
    let rules = MapOptions { hold_back_bios: true, limit: Some(PhysAddr(reach)) };
    let memory = memory_map(boot, regions, usable, rules);
    let memory = user_map::apply(memory, options.user_map, rules);
    let count = tables.present_cpus(cpu.initial_apic_id, cpus, links, &mut Report);
    let inputs = Inputs {
        srat: tables.srat,
        slit: tables.slit,
        cedt: tables.cedt,
        cpus: &cpus[..count],
        unlisted: unlisted_cpus(&cpu),
        max_apic_id: if cpu.x2apic { Inputs::X2APIC } else { Inputs::XAPIC },
        numa: options.numa,
        fake: options.fake,
        ..Inputs::new(&memory)
    };
    let map = map.insert(NodeMap::build(&inputs, room.storage(), &mut Report));
    log_records(tables, map);
    map
}

/// Where the map and all that it is built from lie.
pub fn place() -> Range<VirtAddr> {
    let at = VirtAddr((&raw const STATIC).addr() as u64);
    at..at + size_of_val(&STATIC) as u64
}

/// The usable frames of the loader's memory map. What the loader itself has taken is memory, too.
fn memory_map(
    boot: &Boot,
    regions: &'static mut [Region],
    usable: &'static mut [PfnRange],
    rules: MapOptions,
) -> MemoryMap<'static> {
    let told = &boot.info.memory_regions;
    println!("Memory map: {} regions", told.len());
    for region in told.iter() {
        let range = nearmem::PhysRange::new(region.start, region.end);
        println!("  {range} {}", kind_name(region.kind));
    }
    if boot.dropped_regions > 0 {
        let kind = Kind::MemoryMapDropped { regions: boot.dropped_regions as u64 };
        Report.add(Finding::new(kind));
    }
    for (into, region) in regions.iter_mut().zip(told.iter()) {
        let kind = match region.kind {
            MemoryRegionKind::Usable | MemoryRegionKind::Bootloader => RegionKind::Usable,
            _ => RegionKind::Other,
        };
        *into = Region::new(region.start, region.end, kind);
    }
    let count = told.len().min(REGIONS);
    MemoryMap::build(&mut regions[..count], usable, rules, &mut Report)
}

/// Where CPUs without a record go: the vendor's rule (reference: numa-discovery, section 6).
fn unlisted_cpus(cpu: &CpuFacts) -> UnlistedCpus {
    match cpu.vendor {
        Vendor::Amd | Vendor::Hygon => UnlistedCpus::ByCache(cpu.cache.last_level),
        Vendor::Intel | Vendor::Other => UnlistedCpus::Dealt,
    }
}

/// The words of Linux's memory map.
fn kind_name(kind: MemoryRegionKind) -> &'static str {
    match kind {
        MemoryRegionKind::Usable => "usable",
        MemoryRegionKind::Bootloader => "bootloader",
        MemoryRegionKind::UnknownBios(3) => "ACPI data",
        MemoryRegionKind::UnknownBios(4) => "ACPI NVS",
        MemoryRegionKind::UnknownBios(5) => "unusable",
        _ => "reserved",
    }
}

/// A line for every enabled record of the SRAT.
fn log_records(tables: &Tables, map: &NodeMap<'_>) {
    let Some(srat) = tables.srat.and_then(|bytes| Srat::parse(bytes, &mut |_| ())) else { return };
    for entry in srat.entries() {
        let pxm = match entry.body {
            Body::Cpu(cpu) if cpu.enabled => cpu.pxm,
            Body::Memory(memory) if memory.enabled => memory.pxm,
            Body::Initiator(initiator) if initiator.enabled => initiator.pxm,
            _ => continue,
        };
        println!("{}", entry.line(map.node_of_pxm(pxm)));
    }
}
