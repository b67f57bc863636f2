//! Where everything lies: by virtual address, with its kind, and which physical memory is whose.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::ops::Range;

use nearmem::{PAGE_SIZE, PhysRange, VirtAddr};
use nearmem_x86_64::cpu::{self, Area, stacks};
use nearmem_x86_64::{layout, paging};
use serde_json::{Value, json};

use super::FREE;
use crate::{Kernel, node_map};

/// A stretch of addresses and what is there.
struct Place {
    kind: &'static str,
    name: String,
    at: Range<VirtAddr>,
}

impl Place {
    fn new(kind: &'static str, name: impl ToString, at: Range<VirtAddr>) -> Place {
        Place { kind, name: name.to_string(), at }
    }

    fn as_json(&self) -> Value {
        let Range { start, end } = self.at;
        json!({"kind": self.kind, "name": self.name, "start": start.0, "end": end.0})
    }
}

/// CPUs and nodes, which virtual addresses are which physical ones, and all places: where two
/// overlap, the first counts.
pub(super) fn layout(kernel: &Kernel) -> Value {
    let cpus: Vec<Value> = (kernel.map.cpus().iter().enumerate())
        .map(|(id, cpu)| json!({"id": id, "node": cpu.node.0}))
        .collect();
    let memory: Vec<Value> = (kernel.map.ranges().iter())
        .map(|range| {
            let bytes = range.frames.bytes();
            json!({"node": range.node.0, "start": bytes.start.0, "end": bytes.end.0})
        })
        .collect();
    json!({
        "cpus": cpus,
        "memory": memory,
        "windows": windows(),
        "places": places(kernel).iter().map(Place::as_json).collect::<Vec<_>>(),
    })
}

/// Virtual addresses behind which physical memory lies in one piece: the direct map, the image,
/// which is several where pages are not mapped or the loader has scattered them, and the CPUs'
/// areas.
fn windows() -> Vec<Value> {
    let mut windows = vec![(layout::DIRECT_MAP, PhysRange::new(0, layout::DIRECT_MAP_SIZE))];
    let areas = cpu::areas().flat_map(Area::pages);
    let areas = areas.filter_map(|at| Some((at, paging::memory_of(at)?)));
    for (at, memory) in paging::image_places().chain(areas) {
        match windows.last_mut() {
            Some((first, run)) if *first + run.len() == at && run.end == memory.start => {
                run.end = memory.end
            }
            _ => windows.push((at, memory)),
        }
    }
    let as_json = |(at, run): &(VirtAddr, PhysRange)| json!({"at": at.0, "physical": run.start.0, "bytes": run.len()});
    windows.iter().map(as_json).collect()
}

fn places(kernel: &Kernel) -> Vec<Place> {
    let memory = kernel.memory;
    let mut places = Vec::new();
    places.extend(stacks::stacks().map(|at| Place::new("stack", "", at)));
    places.extend(cpu::blocks().map(|(id, at)| Place::new("cpu", format!("CPU {id}"), at)));
    for id in (0..kernel.map.cpus().len() as u16).map(nearmem::CpuId) {
        let name = format!("CPU {id}, zones");
        places.extend(memory.cpu_block(id).map(|at| Place::new("cpu", name, mapped(at))));
        for zone in memory.zones() {
            let page = memory.pageset_frame(id, zone.id()).map(|frame| frame.addr());
            let page = page.map(|start| PhysRange { start, end: start + PAGE_SIZE });
            let name = format!("CPU {id}, node {} {}", zone.id().node, zone.id().kind);
            places.extend(page.map(|at| Place::new("pageset", name, mapped(at))));
        }
    }
    places.extend(
        memory.zone_metadata().map(|(id, at)| {
            Place::new("zone", format!("node {} {}", id.node, id.kind), mapped(at))
        }),
    );
    places.extend(memory.shared_tables().map(|(name, at)| Place::new("tables", name, at)));
    places.push(Place::new("tables", "node map", node_map::place()));
    let sections = paging::image_sections();
    places.extend(sections.map(|(at, _)| Place::new("image", "", at)));
    let (free, count) = &*FREE.lock();
    places.extend(free[..*count].iter().map(|&at| Place::new("frames", "", mapped(at))));
    let memory = kernel.map.ranges().iter().map(|range| range.frames.bytes());
    places.extend(memory.map(|at| Place::new("reserved", "", mapped(at))));
    let vmalloc = layout::VMALLOC..layout::VMALLOC + layout::VMALLOC_SIZE;
    places.push(Place::new("vmalloc", "", vmalloc));
    places
}

/// Physical memory as the direct map has it.
fn mapped(range: PhysRange) -> Range<VirtAddr> {
    let at = |physical: u64| VirtAddr(layout::DIRECT_MAP.0.wrapping_add(physical));
    at(range.start.0)..at(range.end.0)
}
