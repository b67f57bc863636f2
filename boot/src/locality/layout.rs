//! The kernel's word on where things lie, and the node and kind of an address by it.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of what no place names: device registers, for one.
const OUTSIDE: &str = "outside";

/// The fact of type `locality`.
#[derive(Debug, Clone, Deserialize)]
pub struct Layout {
    cpus: Vec<Cpu>,
    memory: Vec<Memory>,
    windows: Vec<Window>,
    places: Vec<Place>,
    /// The regions that the kernel went through.
    pub regions: Vec<RegionName>,
}

#[derive(Debug, Clone, Deserialize)]
struct Cpu {
    id: u32,
    node: u32,
}

/// Physical memory of a node.
#[derive(Debug, Clone, Deserialize)]
struct Memory {
    node: u32,
    start: u64,
    end: u64,
}

/// Virtual addresses from `at` on that are physical ones from `physical` on.
#[derive(Debug, Clone, Deserialize)]
struct Window {
    at: u64,
    physical: u64,
    bytes: u64,
}

/// What lies at some virtual addresses.
#[derive(Debug, Clone, Deserialize)]
struct Place {
    kind: String,
    name: String,
    start: u64,
    end: u64,
}

/// A region as the kernel names it.
#[derive(Debug, Clone, Deserialize)]
pub struct RegionName {
    /// The number in its marks.
    pub id: u8,
    /// The CPU that went through it; QEMU's number is the same.
    pub cpu: u32,
    /// For people.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// The node whose memory it works with.
    pub node: u32,
    /// How often it does what it is named for.
    pub times: u64,
    /// Ticks of the CPU's counter around the marks. With instruction counting (`-icount`) they are
    /// instructions, a few of them the marks' own.
    pub ticks: u64,
    /// What each time does, where that is known.
    pub known: Option<Known>,
}

/// What a region is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Its counts are known: they show whether the meter is right.
    Check,
    /// What a loop costs by itself.
    Loop,
    /// Pairs of one order-0 allocation and its free.
    Pair,
    /// Allocations, or frees, of many frames.
    Bulk,
    /// The kernel does not name it: its marks are elsewhere.
    Unnamed,
}

/// Counts of each time that are known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Known {
    /// Instructions.
    pub instructions: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot<'a> {
    /// The kind of what lies there.
    pub kind: &'a str,
    /// Which one of this kind; may be empty.
    pub name: &'a str,
    /// How far into it, in bytes.
    pub offset: u64,
    /// The node of the memory; `None` where the address is not RAM at a known physical address.
    pub node: Option<u32>,
}

impl Layout {
    /// Reads the fact.
    ///
    /// # Errors
    /// It is not as agreed.
    pub fn from_fact(fact: Value) -> Result<Layout> {
        serde_json::from_value(fact).context("the kernel's word on where things lie")
    }

    /// The node of a CPU; `None` where the kernel does not know it.
    pub fn node_of_cpu(&self, cpu: u32) -> Option<u32> {
        self.cpus.iter().find(|known| known.id == cpu).map(|known| known.node)
    }

    /// What lies at a virtual address. Of places that overlap the first counts.
    pub fn spot(&self, address: u64) -> Spot<'_> {
        let node = self.physical(address).and_then(|physical| self.node_of_memory(physical));
        match self.places.iter().find(|place| (place.start..place.end).contains(&address)) {
            Some(Place { kind, name, start, .. }) => {
                Spot { kind, name, offset: address - start, node }
            }
            None => Spot { kind: OUTSIDE, name: "", offset: address, node },
        }
    }

    fn physical(&self, address: u64) -> Option<u64> {
        self.windows.iter().find_map(|window| {
            let offset = address.checked_sub(window.at).filter(|&offset| offset < window.bytes)?;
            window.physical.checked_add(offset)
        })
    }

    fn node_of_memory(&self, physical: u64) -> Option<u32> {
        let mut ranges = self.memory.iter();
        ranges.find(|range| (range.start..range.end).contains(&physical)).map(|range| range.node)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Two nodes of 64 KiB behind a direct map at 0x10_0000, and an image at 0xff_0000 whose memory
    /// is node 1's; CPU 0 is on node 0, CPU 1 on node 1.
    pub fn layout(regions: Value) -> Layout {
        let place = |kind, name, start: u64, end: u64| json!({"kind": kind, "name": name, "start": start, "end": end});
        let fact = json!({
            "type": "locality",
            "cpus": [{"id": 0, "node": 0}, {"id": 1, "node": 1}],
            "memory": [{"node": 0, "start": 0, "end": 0x10000},
                       {"node": 1, "start": 0x10000, "end": 0x20000}],
            "windows": [{"at": 0x10_0000, "physical": 0, "bytes": 0x10_0000},
                        {"at": 0xff_0000, "physical": 0x18000, "bytes": 0x1000}],
            "places": [place("stack", "", 0xff_0800, 0xff_1000),
                       place("image", "", 0xff_0000, 0xff_1000),
                       place("pageset", "CPU 0", 0x10_1000, 0x10_2000),
                       place("zone", "node 1 DMA32", 0x11_1000, 0x11_2000),
                       place("frames", "", 0x10_1000, 0x12_0000),
                       place("reserved", "", 0x10_0000, 0x12_0000),
                       place("vmalloc", "", 0x100_0000, 0x200_0000)],
            "regions": regions,
        });
        Layout::from_fact(fact).unwrap()
    }

    #[test]
    fn addresses_have_a_node_and_the_first_kind_that_fits() {
        let layout = layout(json!([]));
        let spot = |address| {
            let Spot { kind, offset, node, .. } = layout.spot(address);
            (kind, offset, node)
        };
        assert_eq!(spot(0x10_1010), ("pageset", 0x10, Some(0)));
        assert_eq!(spot(0x10_2000), ("frames", 0x1000, Some(0)));
        assert_eq!(spot(0x11_1ff8), ("zone", 0xff8, Some(1)));
        assert_eq!(spot(0x10_0008), ("reserved", 8, Some(0)));
        assert_eq!(spot(0xff_0008), ("image", 8, Some(1)));
        assert_eq!(spot(0xff_0808), ("stack", 8, Some(1)));
        assert_eq!(spot(0x100_0000), ("vmalloc", 0, None));
        // In the direct map, but no memory; and nowhere at all.
        assert_eq!(spot(0x12_0000), ("outside", 0x12_0000, None));
        assert_eq!(spot(8), ("outside", 8, None));
    }

    #[test]
    fn cpus_have_nodes() {
        let layout = layout(json!([]));
        assert_eq!((layout.node_of_cpu(1), layout.node_of_cpu(2)), (Some(1), None));
    }

    #[test]
    fn a_fact_that_is_not_as_agreed() {
        let error = Layout::from_fact(json!({"type": "locality"})).unwrap_err();
        assert!(format!("{error:#}").contains("missing field"), "{error:#}");
    }
}
