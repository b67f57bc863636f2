//! The boot, stage by stage.

use alloc::vec::Vec;

use nearmem::PhysAddr;
use nearmem::alloc::{Interleave, MemorySubsystem, interleave_nodes};
use nearmem::finding::{Finding, Findings as _, Kind};
use nearmem::options::{self, Options};
use nearmem::report;
use nearmem::topology::NodeMap;
use nearmem::topology::access::Access;
use nearmem::vmalloc::Vmalloc;
use nearmem_x86_64::{Boot, Door, X86Platform, println, serial};
use serde_json::json;
use spin::Once;

use crate::cpus::Main;
use crate::findings::Report;
use crate::moments::{Moment, Moments};
use crate::tables::{self, Table};
use crate::{
    access, acpi, bench, boot_memory, cpus, facts_port, findings, heap, locality, node_map,
};

/// The page allocator of this machine.
pub type Memory = MemorySubsystem<'static, X86Platform>;
/// The vmalloc range of this machine.
pub type VirtualMemory = Vmalloc<'static, X86Platform>;

static MEMORY: Once<Memory> = Once::new();
static VIRTUAL: Once<VirtualMemory> = Once::new();
static KERNEL: Once<Kernel> = Once::new();

/// A machine that is up.
pub struct Kernel {
    /// The command line as it came.
    pub command_line: &'static str,
    /// What it chose.
    pub options: Options<'static>,
    /// Nodes, memory, CPUs, distances.
    pub map: &'static NodeMap<'static>,
    /// How fast nodes reach memory.
    pub access: &'static Access<'static>,
    /// Zones, pagesets, zonelists.
    pub memory: &'static Memory,
    /// vmalloc.
    pub vmalloc: &'static VirtualMemory,
    /// The large system hash tables.
    pub tables: Vec<Table>,
    /// Where other CPUs can begin: a page below 1 MiB; `None` where none is free, or with one CPU.
    pub low_page: Option<PhysAddr>,
    /// How far the boot was when.
    pub moments: Moments,
}

/// The page allocator, once it is there.
pub fn memory() -> Option<&'static Memory> {
    MEMORY.get()
}

/// Brings the machine up, and goes on with `main`. To be called once, with what the door gave.
pub fn start(boot: Boot, main: Main) -> ! {
    let kernel = KERNEL.call_once(|| bring_up(boot));
    cpus::run(kernel, main)
}

fn bring_up(boot: Boot) -> Kernel {
    let options = greet(&boot);
    let start = Moment::now();
    let firmware = acpi::read(&boot, options.acpi_patch, &mut Report);
    let map = node_map::build(&boot, &firmware, &options);
    let access = access::build(&firmware, map, &options);
    let _ = report::ranges::write(&mut serial::console(), map);

    let mut boot_memory = boot_memory::build(&boot, &firmware, map);
    let platform = boot_memory::map_all(map, &firmware, &mut boot_memory);
    let before_tables = Moment::now();
    let plan = tables::plan(&options.hash, map, &boot_memory);
    // SAFETY: as for the hand-over below.
    let early = unsafe { tables::early(&plan, &mut boot_memory, &platform) };
    let tables = before_tables.until_now();

    if options.locality.is_some() {
        locality::remember_free(&boot_memory);
    }
    let others = map.cpus().len() > 1;
    let low_page = others.then(|| cpus::low_page::reserve(&mut boot_memory)).flatten();
    // SAFETY: boot memory is the RAM of the memory map less what is in use, all of it in the
    // direct map that is in force from now on.
    let memory = unsafe { MemorySubsystem::hand_over(boot_memory, map, platform, options.alloc) };
    let memory = MEMORY.call_once(|| memory.expect("room for the zones' own tables"));
    find_strays(memory);
    let _ = report::zonelists::write(&mut serial::console(), memory);
    set_up_pagesets(memory);
    let ready = Moment::now();
    let first = options.bench.and_then(|_| bench::allocate_on_every_node(memory));
    let moments = Moments { start, tables, ready, first };
    heap::init(memory);
    facts_port::send(&json!({"type": "boot", "cmdline": boot.command_line}));

    let vmalloc = VIRTUAL.call_once(|| Vmalloc::new(memory));
    let turns = Interleave::new(interleave_nodes(map));
    let tables = tables::late(early, &plan, vmalloc, &turns);
    Kernel {
        command_line: boot.command_line,
        options,
        map,
        access,
        memory,
        vmalloc,
        tables,
        low_page,
        moments,
    }
}

/// Gives the CPUs their pagesets, and says, once for each CPU, why they are not on its node.
fn set_up_pagesets(memory: &Memory) {
    let mut last = None;
    let result = memory.set_up_pagesets_explained(&mut |cpu, why| {
        if last.replace(cpu) != Some(cpu) {
            println!("Pagesets of CPU {cpu} are elsewhere: {why}");
        }
    });
    if let Err(error) = result {
        println!("pagesets: not all of them: {error}");
    }
}

/// Says what the hand-over could not do as it should.
fn find_strays(memory: &Memory) {
    let fallbacks = memory.hand_over_report().fallbacks;
    fallbacks.first().for_each(|fallback| println!("{fallback}"));
    let more = fallbacks.count() as usize - fallbacks.first().count();
    if more > 0 {
        println!("{more} more boot allocations are not on the node they were meant for");
    }
    for (zone, metadata) in memory.zone_metadata() {
        match memory.map().node_of(metadata.start.pfn()) {
            Some(on) if on != zone.node => {
                let kind = Kind::ZoneMetadataElsewhere { node: zone.node, on };
                Report.add(Finding::new(kind));
            }
            _ => {}
        }
    }
    let frames = memory.hand_over_report().refused;
    if frames > 0 {
        Report.add(Finding::new(Kind::ZoneFramesRefused { frames }));
    }
}

fn greet(boot: &Boot) -> Options<'static> {
    println!("Nearmem {}", env!("CARGO_PKG_VERSION"));
    println!("Command line: {}", options::printable(boot.command_line));
    if boot.command_line_cut > 0 {
        println!("warning: {} bytes of it did not fit and are lost", boot.command_line_cut);
    }
    let door = match boot.door {
        Door::Pvh => "PVH",
        Door::Bootloader => "bootloader",
    };
    println!("Entered by {door}");
    options::parse(boot.command_line, &mut findings::complain)
}
