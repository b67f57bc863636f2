//! The node map: every frame on one node, and sizes that add up.

use nearmem::platform::CpuToken;
use nearmem::topology::Source;
use nearmem::zone::Zone;
use nearmem::{CpuId, NodeId, Pfn};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;

use crate::support::with_token;

kernel_tests! {
    ranges_are_sorted_disjoint_and_of_one_node,
    every_frame_is_in_the_zone_of_its_node,
    zones_add_up_to_the_memory_of_their_node,
    managed_and_reserved_frames_add_up,
    sets_of_nodes_agree_with_the_map,
    cpus_are_on_nodes_that_are_online,
    distances_are_those_of_a_machine,
    fallback_orders_name_each_node_with_memory_once,
}

fn ranges_are_sorted_disjoint_and_of_one_node(kernel: &Kernel) {
    let mut end = Pfn(0);
    for range in kernel.map.ranges() {
        assert!(!range.frames.is_empty(), "{range:?} is empty");
        assert!(end <= range.frames.start, "{range:?} begins before {end:?}");
        end = range.frames.end;
        for pfn in [range.frames.start, Pfn(range.frames.end.0 - 1)] {
            assert_eq!(kernel.map.node_of(pfn), Some(range.node), "{pfn:?}");
        }
    }
    assert_eq!(kernel.map.node_of(end), None, "beyond the last range");
}

/// Walks the first and last frames of each range and every 251st between: a prime, so that all
/// places within larger blocks come up.
fn every_frame_is_in_the_zone_of_its_node(kernel: &Kernel) {
    for range in kernel.map.ranges() {
        let last = range.frames.end.0 - 1;
        let some = (range.frames.start.0..last).step_by(251).chain([last]);
        for pfn in some.map(Pfn) {
            let zone = kernel.memory.zone_of(pfn);
            let id = zone.unwrap_or_else(|| panic!("{pfn:?} is in no zone")).id();
            assert_eq!(id.node, range.node, "{pfn:?}");
            assert!(id.kind.frames().contains(pfn), "{pfn:?} in zone {}", id.kind);
            let owners = kernel.memory.zones().iter().filter(|zone| zone.contains(pfn)).count();
            assert_eq!(owners, 1, "zones that have {pfn:?}");
        }
    }
}

fn zones_of(kernel: &Kernel, node: NodeId) -> impl Iterator<Item = &'static Zone<'static>> {
    kernel.memory.zones().iter().copied().filter(move |zone| zone.id().node == node)
}

fn zones_add_up_to_the_memory_of_their_node(kernel: &Kernel) {
    for node in kernel.map.possible().iter() {
        let memory: u64 = kernel.map.node_ranges(node).map(|range| range.len()).sum();
        let present: u64 = zones_of(kernel, node).map(|zone| zone.present()).sum();
        assert_eq!(present, memory, "frames of node {node}");
    }
}

fn managed_and_reserved_frames_add_up(kernel: &Kernel) {
    for zone in kernel.memory.zones() {
        let (managed, reserved) = with_token(kernel, |token| count(zone, token));
        assert_eq!(managed, zone.managed(), "managed frames of {:?}", zone.id());
        assert_eq!(managed + reserved, zone.present(), "frames of {:?}", zone.id());
        assert!(zone.free() <= managed, "free frames of {:?}", zone.id());
    }
}

/// Frames of a zone that were released to it, and RAM of it that was not.
fn count(zone: &Zone<'_>, token: &CpuToken) -> (u64, u64) {
    let (mut managed, mut reserved) = (0, 0);
    for pfn in (zone.span().start.0..zone.span().end.0).map(Pfn) {
        match (zone.contains(pfn), zone.is_managed(token, pfn)) {
            (true, true) => managed += 1,
            (true, false) => reserved += 1,
            (false, is_managed) => assert!(!is_managed, "{pfn:?} is no RAM, but managed"),
        }
    }
    (managed, reserved)
}

fn sets_of_nodes_agree_with_the_map(kernel: &Kernel) {
    let map = kernel.map;
    for node in map.possible().iter() {
        let memory = map.node_ranges(node).next().is_some();
        assert_eq!(map.with_memory().contains(node), memory, "memory of node {node}");
        let cpu = map.cpus_of(node).next().is_some();
        if map.source() != Source::Fake {
            assert_eq!(map.with_cpus().contains(node), cpu, "CPUs of node {node}");
        }
        assert!(cpu || !map.with_cpus().contains(node), "CPUs of node {node}");
        assert!(map.online().contains(node) || !(memory || cpu), "node {node} is not online");
    }
    for node in map.online().iter() {
        assert!(map.possible().contains(node), "node {node} is online, but not possible");
    }
    assert!(map.ranges().iter().all(|range| map.possible().contains(range.node)));
}

fn cpus_are_on_nodes_that_are_online(kernel: &Kernel) {
    let map = kernel.map;
    assert!(!map.cpus().is_empty(), "no CPU is present");
    for (at, cpu) in map.cpus().iter().enumerate() {
        assert!(map.online().contains(cpu.node), "CPU {at} is on node {}", cpu.node);
        let id = CpuId(at as u16);
        assert_eq!(map.node_of_cpu(id), cpu.node, "CPU {at}");
        assert!(map.with_cpus().contains(cpu.node), "CPU {at}");
        assert!(map.cpus_of(cpu.node).any(|other| other == id), "CPU {at} is not on its node");
        let same_apic = map.cpus().iter().filter(|other| other.apic == cpu.apic).count();
        assert_eq!(same_apic, 1, "CPUs with the APIC of CPU {at}");
    }
}

fn distances_are_those_of_a_machine(kernel: &Kernel) {
    for from in kernel.map.online().iter() {
        for to in kernel.map.online().iter() {
            let distance = kernel.map.distance(from, to);
            // Parts of one node, split by `numa=fake`, are as near as a node is to itself.
            let whole = kernel.map.whole(from) == kernel.map.whole(to);
            assert_eq!(distance == 10, whole, "{distance} from node {from} to {to}");
            assert!(distance >= 10, "{distance} from node {from} to {to}");
        }
    }
}

/// The node itself comes first; distances then grow, but for the 1 that Linux adds for nodes with
/// a lower number.
fn fallback_orders_name_each_node_with_memory_once(kernel: &Kernel) {
    for node in kernel.map.possible().iter() {
        let order = kernel.memory.fallback_order(node);
        assert_eq!(order.first(), Some(&node), "{order:?} of node {node}");
        let others = || order.iter().skip(1);
        for other in kernel.map.with_memory().iter().filter(|&other| other != node) {
            assert_eq!(others().filter(|&&n| n == other).count(), 1, "{other} in {order:?}");
        }
        assert!(others().all(|&n| kernel.map.with_memory().contains(n)), "{order:?}");
        let far = |n: NodeId| u16::from(kernel.map.distance(node, n)) + u16::from(n < node);
        let grows = others().zip(others().skip(1)).all(|(&a, &b)| far(a) <= far(b));
        assert!(grows, "{order:?} of node {node}");
    }
}
