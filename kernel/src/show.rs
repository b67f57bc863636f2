//! What a person sees at the end of a boot: the machine, its zones, where the hash tables lie, and
//! what is used on each node.

use core::fmt::{self, Write};

use nearmem::NodeId;
use nearmem::report::collect::node_memory;
use nearmem::report::{access, hash_tables, node_table, numactl};
use nearmem_x86_64::{println, serial};

use crate::{Kernel, heap};

/// Prints all of it to COM1.
pub fn machine(kernel: &Kernel) {
    // The port cannot fail.
    let _ = write_all(kernel);
}

fn write_all(kernel: &Kernel) -> fmt::Result {
    let figures = |node| node_memory(kernel.memory, node);
    let mut out = serial::console();
    writeln!(out, "\n-- The machine")?;
    numactl::write(&mut out, kernel.map, figures)?;

    if kernel.access.is_known() {
        writeln!(out, "\n-- Access to memory (HMAT)")?;
        access::write(&mut out, kernel.access)?;
    }

    writeln!(out, "\n-- Zones (frames)")?;
    zones(&mut out, kernel)?;

    writeln!(out, "\n-- Large system hash tables")?;
    hash_tables::header(&mut out)?;
    for table in &kernel.tables {
        let info = table.info();
        let kind = info.placement.name();
        hash_tables::row(&mut out, info.name, info.bytes, kind, table.pages_by_node())?;
    }

    writeln!(out, "\n-- Memory of each node, pagesets drained, in the rows of the 2007 meminfo")?;
    let pages = |node: NodeId| {
        let all = kernel.tables.iter().flat_map(|table| table.pages_by_node());
        all.filter(|&(at, _)| at == node).map(|(_, pages)| pages).sum()
    };
    node_table::write(&mut out, kernel.map.online(), figures, pages)?;
    drop(out);
    let (heap, in_use) = heap::size_and_used();
    println!("(kernel heap: {} kB, {} kB in use)", heap / 1024, in_use / 1024);
    println!("\n{}", advice(kernel));
    Ok(())
}

fn zones(out: &mut dyn Write, kernel: &Kernel) -> fmt::Result {
    writeln!(
        out,
        "{:>4} {:<7} {:>10} {:>10} {:>10} {:>10} {:>6} {:>6} {:>6}",
        "node", "zone", "start", "present", "managed", "free", "min", "low", "high"
    )?;
    for zone in kernel.memory.zones() {
        let (id, marks) = (zone.id(), zone.watermarks());
        writeln!(
            out,
            "{:>4} {:<7} {:>10} {:>10} {:>10} {:>10} {:>6} {:>6} {:>6}",
            id.node,
            id.kind,
            zone.span().start.0,
            zone.present(),
            zone.managed(),
            zone.free(),
            marks.min,
            marks.low,
            marks.high,
        )?;
    }
    Ok(())
}

/// One sentence that says what to look at.
fn advice(kernel: &Kernel) -> &'static str {
    let one_node = kernel.map.with_memory().len() <= 1;
    let spread = kernel.options.hash.distribute(kernel.map.with_memory().len());
    match (one_node, spread) {
        (true, _) => {
            "One node has all memory, so all tables lie there.\n\
             Boot with `--nodes 4` to see them spread."
        }
        (false, true) => {
            "Look at the column \"hash pages\": every node carries its share of the tables.\n\
             Boot with `--append hashdist=0` to see node 0 carry the two large ones alone."
        }
        (false, false) => {
            "Look at the column \"hash pages\": node 0 carries the dentry and inode tables alone.\n\
             Boot without `hashdist=0` to see them spread over all nodes."
        }
    }
}
