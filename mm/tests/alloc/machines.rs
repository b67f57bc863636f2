//! Machines to test on.

use nearmem::alloc::{FrameBlock, MemorySubsystem, Options, Request};
use nearmem::sim::{SimBuilder, SimMachine, SimPlatform};
use nearmem::topology::NodeMap;
use nearmem::zone::{ZoneId, ZoneKind};
use nearmem::{CpuId, NodeId, Order};

pub type Mm<'m> = MemorySubsystem<'m, SimPlatform>;

pub const MIB: u64 = 1 << 20;
pub const PAGE: Request<'static> = Request::new(Order::ZERO);

pub fn order(order: u8) -> Order {
    Order::new(order).unwrap()
}

pub fn zone(node: u16, kind: ZoneKind) -> ZoneId {
    ZoneId { node: NodeId(node), kind }
}

/// Two nodes; the first has zone DMA, too.
pub fn two_nodes() -> SimBuilder {
    SimMachine::builder().node(48 * MIB, 2).node(32 * MIB, 1)
}

/// Two nodes that have zone DMA32 only.
pub fn two_nodes_above_dma() -> SimBuilder {
    SimMachine::builder().node(0, 1).node(0, 1).range(0, 16 * MIB, 48 * MIB).range(
        1,
        48 * MIB,
        80 * MIB,
    )
}

/// Machines that differ in all that matters here, each small enough to be exhausted.
pub fn topologies() -> Vec<(&'static str, SimMachine)> {
    let one = || SimMachine::builder();
    vec![
        ("one node", one().node(40 * MIB, 1).build()),
        ("below 16 MiB", one().node(6 * MIB, 1).build()),
        ("two nodes", two_nodes().build()),
        ("no memory on node 1", one().node(24 * MIB, 1).node(0, 2).node(16 * MIB, 1).build()),
        ("no CPU on node 1", one().node(24 * MIB, 2).node(24 * MIB, 0).build()),
        ("first node small", one().node(MIB, 1).node(32 * MIB, 1).node(12 * MIB, 1).build()),
        (
            "zone Normal and a hole",
            one()
                .node(20 * MIB, 1)
                .node(8 * MIB, 1)
                .range(0, 4096 * MIB, 4112 * MIB)
                .range(1, 4120 * MIB + 0x3000, 4130 * MIB + 0x5000)
                .build(),
        ),
        (
            "nodes interleaved",
            one()
                .node(20 * MIB, 1)
                .node(0, 1)
                .range(1, 32 * MIB, 40 * MIB)
                .range(0, 40 * MIB, 44 * MIB)
                .range(1, 44 * MIB, 50 * MIB)
                .build(),
        ),
    ]
}

/// The memory subsystem of a machine, boot pagesets still in place.
pub fn boot<'m>(machine: &'m SimMachine, map: &'m NodeMap<'m>, options: Options) -> Mm<'m> {
    // SAFETY: the machine's RAM lives as long as the machine, and nobody else uses it.
    unsafe {
        MemorySubsystem::hand_over(machine.boot_memory(map), map, machine.platform(), options)
    }
    .expect("room for the tables")
}

/// The same with pagesets.
pub fn up<'m>(machine: &'m SimMachine, map: &'m NodeMap<'m>) -> Mm<'m> {
    let mm = boot(machine, map, Options::default());
    mm.set_up_pagesets().expect("memory for pagesets");
    mm
}

/// Takes blocks until the allocator refuses.
pub fn take_all<'m>(mm: &Mm<'m>, request: &Request<'_>) -> Vec<FrameBlock<'m>> {
    std::iter::from_fn(|| mm.alloc(request).ok()).collect()
}

/// Free and parked frames of all zones.
pub fn unused(mm: &Mm<'_>) -> u64 {
    mm.zones().iter().map(|zone| zone.free() + mm.parked_in(zone.id())).sum()
}

/// Sets all watermarks and reserves to 0, so that a test can reach the last frame.
pub fn without_marks(mm: &Mm<'_>) {
    for zone in mm.zones() {
        zone.set_watermarks(Default::default());
        ZoneKind::ALL.iter().for_each(|&kind| zone.set_protection(kind, 0));
    }
}

/// Runs `work` as one CPU, the only one that is online meanwhile, since this thread cannot answer
/// for two. CPU 0 is the one before and after.
pub fn as_cpu<R>(machine: &SimMachine, mm: &Mm<'_>, cpu: CpuId, work: impl FnOnce() -> R) -> R {
    mm.set_offline(&mm.pin());
    let result = machine.run_on(cpu, || {
        mm.set_online(cpu);
        let result = work();
        mm.set_offline(&mm.pin());
        result
    });
    mm.set_online(CpuId(0));
    result
}
