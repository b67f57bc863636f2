//! Building a node map: the steps, and what remains when the SRAT cannot be used.

use super::cpus::{self, Nodes};
use super::domains::Domain;
use super::fill::Fill;
use super::records::{Block, CpuRecord};
use super::walk::{self, Affinity};
use super::{Inputs, NodeMap, NodeRange, NumaOption, Source, Storage};
use super::{cleanup, cover, distances, notes};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::srat::{SIGNATURE, Srat};
use crate::ids::{NodeId, NodeSet};

impl<'m> NodeMap<'m> {
    /// Builds the map. Never fails: what cannot be used is a finding, and one node with all
    /// memory is what remains.
    pub fn build(
        inputs: &Inputs<'_>,
        storage: Storage<'m>,
        findings: &mut dyn Findings,
    ) -> NodeMap<'m> {
        let Storage { ranges, cpus, distances, domains, records, blocks } = storage;
        let rest = Rest { ranges, cpus, distances };
        match inputs.numa {
            NumaOption::On => {}
            NumaOption::Off => return one_node(inputs, Source::Off, &[], &mut [], rest, findings),
            NumaOption::NoAcpi => {
                return one_node(inputs, Source::None, &[], &mut [], rest, findings);
            }
        }
        let Some(srat) = inputs.srat.and_then(|bytes| Srat::parse(bytes, findings)) else {
            findings.add(Finding::at(Place::table(SIGNATURE), Kind::SratAbsent));
            return one_node(inputs, Source::None, &[], &mut [], rest, findings);
        };
        let room = walk::Room { domains, records, blocks };
        let affinity = walk::read(&srat, inputs.max_apic_id, room, findings);
        let Affinity { sound, domains, records, blocks, initiators } = affinity;
        let dealt = match sound {
            true => deal(inputs, blocks, rest.ranges, findings),
            false => Err(Refused { uncovered: 0 }),
        };
        let dealt = match dealt {
            Ok(dealt) => dealt,
            Err(Refused { uncovered }) => {
                findings.add(Finding::at(Place::table(SIGNATURE), Kind::SratRejected));
                let map = one_node(inputs, Source::None, domains, records, rest, findings);
                return NodeMap { uncovered, ..map };
            }
        };

        let ranges: &[NodeRange] = rest.ranges.get(..dealt.ranges).unwrap_or_default();
        let blocks: &[Block] = blocks.get(..dealt.blocks).unwrap_or_default();
        let with_memory: NodeSet = ranges.iter().map(|range| range.node).collect();
        let nodes = Nodes { records, with_memory: &with_memory, initiators: &initiators };
        let cpus = cpus::assign(inputs, &nodes, rest.cpus, findings);
        let with_cpus: NodeSet = match inputs.cpus {
            [] => records.iter().map(|record| record.node).collect(),
            _ => cpus.iter().map(|cpu| cpu.node).collect(),
        };
        let up = with_memory.iter().chain(with_cpus.iter()).chain(initiators.iter());
        let map = NodeMap {
            source: Source::Srat,
            possible: (0..domains.len() as u16).map(NodeId).collect(),
            online: up.collect(),
            with_memory,
            with_cpus,
            initiators,
            ranges,
            cpus,
            distances: distances::from_slit(inputs.slit, domains, rest.distances, findings),
            domains,
            records,
            blocks,
            uncovered: dealt.uncovered,
        };
        notes::describe(&map, findings);
        map
    }
}

/// The storage that is left when the SRAT has been read.
struct Rest<'m> {
    ranges: &'m mut [NodeRange],
    cpus: &'m mut [super::Cpu],
    distances: &'m mut [u8],
}

/// How memory was dealt out: how many blocks and ranges there are, and what no node got.
struct Dealt {
    blocks: usize,
    ranges: usize,
    uncovered: u64,
}

/// The table is refused; the usable bytes that it did not cover, if it came to that.
struct Refused {
    uncovered: u64,
}

/// Deals memory out by the SRAT's blocks.
fn deal(
    inputs: &Inputs<'_>,
    blocks: &mut [Block],
    room: &mut [NodeRange],
    findings: &mut dyn Findings,
) -> Result<Dealt, Refused> {
    let memory = inputs.memory;
    let kept = cleanup::clip(blocks, memory, findings);
    let blocks = blocks.get_mut(..kept).unwrap_or_default();
    if !cleanup::sort_and_check(blocks, findings) {
        return Err(Refused { uncovered: 0 });
    }
    let joined = cleanup::join(blocks, memory, findings);
    let mut ranges = Fill::new(room);
    let blocks = blocks.get(..joined).unwrap_or_default();
    let coverage = cover::cover(memory, blocks, &mut ranges);
    let uncovered = coverage.uncovered;
    if !coverage.accept(memory, findings) {
        return Err(Refused { uncovered });
    }
    coverage.report_lost(ranges.room(), findings);
    Ok(Dealt { blocks: joined, ranges: ranges.len(), uncovered })
}

/// Node 0 has all memory and all CPUs. `domains` and `records` are what was read of an SRAT.
fn one_node<'m>(
    inputs: &Inputs<'_>,
    source: Source,
    domains: &'m [Domain],
    records: &'m mut [CpuRecord],
    rest: Rest<'m>,
    findings: &mut dyn Findings,
) -> NodeMap<'m> {
    let mut ranges = Fill::new(rest.ranges);
    let coverage = cover::all_to_node_0(inputs.memory, &mut ranges);
    coverage.report_lost(ranges.room(), findings);
    let ranges = ranges.finish();
    for record in records.iter_mut() {
        record.node = NodeId(0);
    }
    let cpus = cpus::all_on_node_0(inputs, rest.cpus, findings);
    let node_0 = NodeSet::of(NodeId(0));
    let has = |any: bool| if any { node_0 } else { NodeSet::EMPTY };
    NodeMap {
        source,
        possible: node_0,
        online: node_0,
        with_memory: has(!ranges.is_empty()),
        with_cpus: has(!cpus.is_empty() || !records.is_empty()),
        initiators: NodeSet::EMPTY,
        ranges,
        cpus,
        distances: distances::fill(rest.distances, 1, distances::default),
        domains,
        records,
        blocks: &[],
        uncovered: 0,
    }
}
