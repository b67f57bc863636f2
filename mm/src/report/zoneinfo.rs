//! `/proc/zoneinfo` in the form of kernel 6.1 (reference: formats, section 5).
//!
//! The fixed block is complete: `boost` and `cma`, which this kernel does not have, are 0. Of the
//! statistics behind it only those that exist are there.

use core::fmt::{Result, Write};

use super::collect;
use super::figures::{PagesetFigures, ZoneFigures};
use crate::alloc::{MemorySubsystem, NumaCounters};
use crate::ids::CpuId;
use crate::platform::Platform;
use crate::units::{Order, PfnRange};
use crate::zone::{Watermarks, ZoneId, ZoneKind};

/// All zones of all online nodes.
pub fn write_all<P: Platform>(out: &mut dyn Write, memory: &MemorySubsystem<'_, P>) -> Result {
    for node in memory.map().online().iter() {
        for kind in ZoneKind::ALL {
            let id = ZoneId { node, kind };
            match collect::zone(memory, id) {
                Some(zone) => write(out, &zone, collect::pagesets(memory, id))?,
                None => write_unpopulated(out, id)?,
            }
        }
    }
    Ok(())
}

/// A populated zone with the pagesets of all present CPUs.
pub fn write(
    out: &mut dyn Write,
    zone: &ZoneFigures,
    pagesets: impl Iterator<Item = (CpuId, PagesetFigures)>,
) -> Result {
    fixed_block(out, zone)?;
    writeln!(out, "      nr_free_pages {}", zone.free)?;
    for (name, count) in [
        ("numa_hit", zone.counters.hit),
        ("numa_miss", zone.counters.miss),
        ("numa_foreign", zone.counters.foreign),
        ("numa_interleave", zone.counters.interleave_hit),
        ("numa_local", zone.counters.local),
        ("numa_other", zone.counters.other),
    ] {
        writeln!(out, "      {name:<12} {count}")?;
    }
    writeln!(out, "  pagesets")?;
    for (cpu, set) in pagesets {
        writeln!(out, "    cpu: {cpu}")?;
        writeln!(out, "              count: {}", set.count)?;
        writeln!(out, "              high:  {}", set.high)?;
        writeln!(out, "              batch: {}", set.batch)?;
    }
    writeln!(out, "  start_pfn:           {}", zone.span.start.0)
}

/// A zone without frames: its text ends behind the protection.
pub fn write_unpopulated(out: &mut dyn Write, id: ZoneId) -> Result {
    let none = ZoneFigures {
        id,
        span: PfnRange::default(),
        present: 0,
        managed: 0,
        free: 0,
        marks: Watermarks::default(),
        protection: [0; ZoneKind::ALL.len()],
        blocks: [0; Order::COUNT],
        counters: NumaCounters::default(),
    };
    fixed_block(out, &none)
}

fn fixed_block(out: &mut dyn Write, zone: &ZoneFigures) -> Result {
    writeln!(out, "Node {}, zone {:>8}", zone.id.node, zone.id.kind)?;
    writeln!(out, "  pages free     {}", zone.free)?;
    for (name, frames) in [
        ("boost", 0),
        ("min", zone.marks.min),
        ("low", zone.marks.low),
        ("high", zone.marks.high),
        ("spanned", zone.span.len()),
        ("present", zone.present),
        ("managed", zone.managed),
        ("cma", 0),
    ] {
        writeln!(out, "        {name:<8} {frames}")?;
    }
    // Linux's further zone types, Movable and Device, have no frames here: what protects a zone
    // from requests for Normal protects it from those as well.
    let [dma, dma32, normal] = zone.protection;
    writeln!(out, "        protection: ({dma}, {dma32}, {normal}, {normal}, {normal})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use std::string::String;

    fn dma32() -> ZoneFigures {
        ZoneFigures {
            id: ZoneId { node: NodeId(0), kind: ZoneKind::Dma32 },
            span: PfnRange::new(4096, 131072),
            present: 126944,
            managed: 124000,
            free: 118211,
            marks: Watermarks { min: 346, low: 470, high: 594 },
            protection: [0, 0, 2000],
            blocks: [0; Order::COUNT],
            counters: NumaCounters {
                hit: 10233,
                miss: 0,
                foreign: 0,
                interleave_hit: 512,
                local: 9980,
                other: 253,
                ..NumaCounters::default()
            },
        }
    }

    #[test]
    fn a_zone_with_two_pagesets() {
        let sets = [57, 0].map(|count| PagesetFigures { count, high: 235, batch: 31 });
        let mut out = String::new();
        write(&mut out, &dma32(), (0..).map(CpuId).zip(sets)).unwrap();
        assert_eq!(
            out,
            "Node 0, zone    DMA32
  pages free     118211
        boost    0
        min      346
        low      470
        high     594
        spanned  126976
        present  126944
        managed  124000
        cma      0
        protection: (0, 0, 2000, 2000, 2000)
      nr_free_pages 118211
      numa_hit     10233
      numa_miss    0
      numa_foreign 0
      numa_interleave 512
      numa_local   9980
      numa_other   253
  pagesets
    cpu: 0
              count: 57
              high:  235
              batch: 31
    cpu: 1
              count: 0
              high:  235
              batch: 31
  start_pfn:           4096
"
        );
    }

    #[test]
    fn an_unpopulated_zone_stops_behind_its_protection() {
        let mut out = String::new();
        let id = ZoneId { node: NodeId(2), kind: ZoneKind::Normal };
        write_unpopulated(&mut out, id).unwrap();
        assert!(out.starts_with("Node 2, zone   Normal\n  pages free     0\n        boost    0\n"));
        assert!(out.ends_with("        cma      0\n        protection: (0, 0, 0, 0, 0)\n"));
    }
}
