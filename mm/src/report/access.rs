//! How fast nodes reach memory: lines for the boot log, and tables of our own for people.

use core::fmt::{self, Result, Write};

use crate::firmware::hmat::{Associativity, SideCache, WritePolicy};
use crate::ids::{NodeId, NodeSet};
use crate::topology::access::{Access, Class, Figures};

/// Writes the lines of the boot log: tiers, interleave weights, best initiators. Nothing when there
/// is no HMAT.
pub fn log(out: &mut dyn Write, access: &Access<'_>) -> Result {
    if !access.is_known() {
        return Ok(());
    }
    let nodes = access.map().with_memory();
    write!(out, "HMAT: memory tiers:")?;
    groups(out, nodes, |node| access.tier(node))?;
    write!(out, "HMAT: interleave weights:")?;
    groups(out, nodes, |node| access.weight(node).into())?;
    write!(out, "HMAT: best initiators with CPUs:")?;
    for (at, node) in nodes.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let initiators = access.best(node, Class::Cpus).initiators;
        write!(out, "{comma} {} of node {node}", set(&initiators))?;
    }
    writeln!(out)
}

/// Writes ` 4 of nodes 0-1, 9 of node 2`, ascending by number, and ends the line.
fn groups(out: &mut dyn Write, nodes: &NodeSet, number: impl Fn(NodeId) -> u32) -> Result {
    let mut last = None;
    let above = |number: u32, last: Option<u32>| last.is_none_or(|last| number > last);
    while let Some(next) = nodes.iter().map(&number).filter(|&n| above(n, last)).min() {
        let comma = if last.is_none() { "" } else { "," };
        let group: NodeSet = nodes.iter().filter(|&node| number(node) == next).collect();
        let plural = if group.len() > 1 { "s" } else { "" };
        write!(out, "{comma} {next} of node{plural} {group}")?;
        last = Some(next);
    }
    writeln!(out)
}

/// A set, or `none`.
fn set(nodes: &NodeSet) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| match nodes.is_empty() {
        true => f.write_str("none"),
        false => write!(f, "{nodes}"),
    })
}

/// Writes all of it: a row for each node with memory, by the best initiators with CPUs; the path
/// from each of at most 16 initiators to each node; the caches. Latencies are nanoseconds,
/// bandwidths MB/s, `-` is not known.
pub fn write(out: &mut dyn Write, access: &Access<'_>) -> Result {
    if !access.is_known() {
        return writeln!(out, "no HMAT: nothing is known about latencies and bandwidths");
    }
    let memory = access.map().with_memory();
    writeln!(
        out,
        "{:>4} {:>4} {:>6} {:>9} {:>9} {:>9} {:>9}  best initiators",
        "node", "tier", "weight", "read ns", "write ns", "read MB/s", "wr. MB/s"
    )?;
    for node in memory.iter() {
        let best = access.best(node, Class::Cpus);
        write!(out, "{node:>4} {:>4} {:>6} ", access.tier(node), access.weight(node))?;
        columns(out, &best.figures)?;
        write!(out, "  {}", set(&best.initiators))?;
        let any = access.best(node, Class::Any).initiators;
        if any != best.initiators {
            write!(out, "; with devices {}", set(&any))?;
        }
        writeln!(out)?;
    }
    paths(out, access)?;
    access.caches().try_for_each(|(node, side)| cache(out, node, &side))
}

/// How many initiators are shown one by one.
const SHOWN: usize = 16;

fn paths(out: &mut dyn Write, access: &Access<'_>) -> Result {
    let online = access.map().online();
    let memory = access.map().with_memory();
    let known = |&from: &NodeId| memory.iter().any(|to| !access.figures(from, to).is_empty());
    for from in online.iter().filter(known).take(SHOWN) {
        for to in memory.iter() {
            write!(out, "{from:>7} -> {to:>5} ")?;
            columns(out, &access.figures(from, to))?;
            writeln!(out)?;
        }
    }
    Ok(())
}

fn columns(out: &mut dyn Write, figures: &Figures) -> Result {
    let Figures { read_latency, write_latency, read_bandwidth, write_bandwidth } = *figures;
    let all = [read_latency, write_latency, read_bandwidth, write_bandwidth];
    for (at, figure) in all.into_iter().enumerate() {
        let blank = if at == 0 { "" } else { " " };
        match figure {
            Some(figure) => write!(out, "{blank}{figure:>9}")?,
            None => write!(out, "{blank}{:>9}", "-")?,
        }
    }
    Ok(())
}

fn cache(out: &mut dyn Write, node: NodeId, cache: &SideCache) -> Result {
    let SideCache { size, levels, level, line, .. } = *cache;
    let found = match cache.associativity {
        Associativity::DirectMapped => ", direct mapped",
        Associativity::Complex => ", indexed",
        Associativity::Other => "",
    };
    let written = match cache.write_policy {
        WritePolicy::WriteBack => ", write back",
        WritePolicy::WriteThrough => ", write through",
        WritePolicy::Other => "",
    };
    writeln!(
        out,
        "memory side cache of node {node}: level {level} of {levels}, {} kB, lines of {line} \
         bytes{found}{written}",
        size / 1024
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firmware::hmat::by_hand::{cache, locality, table};
    use crate::topology::access::by_hand::{CPUS, DEVICE, MEMORY, Machine};
    use std::string::String;

    #[test]
    fn people_see_tiers_weights_paths_and_caches() {
        let domains = [(0, CPUS | MEMORY), (1, CPUS | MEMORY), (2, DEVICE), (3, MEMORY)];
        let all = [
            locality(0, 1000, &[0, 1, 2], &[0, 1, 3], &[80, 140, 240, 140, 80, 240, 0, 0, 90]),
            locality(4, 1000, &[0, 1], &[0, 1, 3], &[90, 40, 30, 40, 90, 30]),
            locality(5, 1000, &[0, 1], &[0, 1, 3], &[90, 40, 30, 40, 90, 30]),
            cache(3, 64 << 20, 0x0040_1111),
            cache(1, 4096, 0x0080_2202),
        ];
        let (mut boot, mut tables) = (String::new(), String::new());
        Machine::new(&domains).look(&table(2, &all), |access, _| {
            log(&mut boot, access).unwrap();
            write(&mut tables, access).unwrap();
        });
        assert_eq!(
            boot,
            "HMAT: memory tiers: 4 of nodes 0-1, 40 of node 3\n\
             HMAT: interleave weights: 4 of node 3, 13 of nodes 0-1\n\
             HMAT: best initiators with CPUs: 0 of node 0, 1 of node 1, 0-1 of node 3\n"
        );
        let rows = "\
node tier weight   read ns  write ns read MB/s  wr. MB/s  best initiators
   0    4     13        80        80     90000     90000  0
   1    4     13        80        80     90000     90000  1
   3   40      4       240       240     30000     30000  0-1; with devices 2
      0 ->     0        80        80     90000     90000
      0 ->     1       140       140     40000     40000
      0 ->     3       240       240     30000     30000
      1 ->     0       140       140     40000     40000
      1 ->     1        80        80     90000     90000
      1 ->     3       240       240     30000     30000
      2 ->     0         -         -         -         -
      2 ->     1         -         -         -         -
      2 ->     3        90        90         -         -
memory side cache of node 3: level 1 of 1, 65536 kB, lines of 64 bytes, direct mapped, write back
memory side cache of node 1: level 0 of 2, 4 kB, lines of 128 bytes, indexed, write through
";
        assert_eq!(tables, rows);
    }

    #[test]
    fn without_a_table_it_says_so() {
        let (mut boot, mut tables) = (String::new(), String::new());
        Machine::new(&[(0, CPUS | MEMORY)]).look(&table(9, &[]), |access, _| {
            log(&mut boot, access).unwrap();
            write(&mut tables, access).unwrap();
        });
        assert_eq!(boot, "");
        assert_eq!(tables, "no HMAT: nothing is known about latencies and bandwidths\n");
    }
}
