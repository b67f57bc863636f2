//! Building a node map: the steps, and what remains when the SRAT cannot be used.

use super::cpus::{self, Nodes};
use super::draft::Draft;
use super::fake::Parts;
use super::fill::Fill;
use super::memory_map::MemoryMap;
use super::records::Block;
use super::walk::{self, Affinity};
use super::{Cpu, Inputs, NodeMap, NodeRange, NumaOption, Source, Storage};
use super::{cleanup, cover, distances, emulate, notes};
use crate::finding::{Finding, Findings, Kind, OneNode, Place};
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
        let Storage { ranges, cpus, distances: rows, domains, records, blocks, .. } = storage;
        let fake_room = emulate::Room { nodes: storage.fake_nodes, blocks: storage.fake_blocks };
        let srat_room = walk::Room { domains, records, blocks };
        let rest = Rest { ranges: Fill::new(ranges), cpus };
        let mut draft = physical(inputs, srat_room, rest, findings);
        let by_srat = draft.source == Source::Srat;
        if let Some(fake) = &inputs.fake {
            emulate::split(fake, inputs.memory, &mut draft, fake_room, findings);
        }
        let physical = match by_srat {
            true => distances::BySlit::read(inputs.slit, draft.named(), findings),
            false => distances::BySlit::NONE,
        };
        let distances = match &inputs.fake {
            Some(fake) if draft.source == Source::Fake => {
                distances::of_parts(&physical, &draft.parts, fake.distances, rows, findings)
            }
            _ => distances::of_nodes(&physical, draft.possible.len(), rows, findings),
        };
        let map = draft.finish(by_srat, distances);
        if by_srat {
            notes::describe(&map, findings);
        }
        map
    }
}

/// Storage that is for every map.
struct Rest<'m> {
    ranges: Fill<'m, NodeRange>,
    cpus: &'m mut [Cpu],
}

/// The map by the SRAT, or what remains without it; no distances yet, nothing is split.
fn physical<'m>(
    inputs: &Inputs<'_>,
    room: walk::Room<'m>,
    mut rest: Rest<'m>,
    findings: &mut dyn Findings,
) -> Draft<'m> {
    match inputs.numa {
        NumaOption::On => {}
        NumaOption::Off => return one_node(inputs, Source::Off, rest, findings),
        NumaOption::NoAcpi => return one_node(inputs, Source::None, rest, findings),
    }
    let Some(srat) = inputs.srat.and_then(|bytes| Srat::parse(bytes, findings)) else {
        findings.add(Finding::at(Place::table(SIGNATURE), Kind::SratAbsent));
        return one_node(inputs, Source::None, rest, findings);
    };
    let affinity = walk::read(&srat, inputs.cedt, inputs.max_apic_id, room, findings);
    let Affinity { sound, domains, named, records, blocks, initiators } = affinity;
    let dealt = match sound {
        true => deal(inputs.memory, blocks, &mut rest.ranges, findings),
        false => Err(Refused { uncovered: 0 }),
    };
    let dealt = match dealt {
        Ok(dealt) => dealt,
        Err(Refused { uncovered }) => {
            findings.add(Finding::at(Place::table(SIGNATURE), Kind::SratRejected));
            let draft = one_node(inputs, Source::None, rest, findings);
            records.iter_mut().for_each(|record| record.node = NodeId(0));
            let with_cpus = match records {
                [] => draft.with_cpus,
                _ => NodeSet::of(NodeId(0)),
            };
            return Draft { domains, named, records, with_cpus, uncovered, ..draft };
        }
    };
    let with_memory: NodeSet = rest.ranges.as_slice().iter().map(|range| range.node).collect();
    let nodes = Nodes { records, with_memory: &with_memory, initiators: &initiators };
    let cpus = cpus::assign(inputs, nodes, rest.cpus, findings);
    let with_cpus: NodeSet = match inputs.cpus {
        [] => records.iter().map(|record| record.node).collect(),
        _ => cpus.iter().map(|cpu| cpu.node).collect(),
    };
    let up = with_memory.iter().chain(with_cpus.iter()).chain(initiators.iter());
    Draft {
        source: Source::Srat,
        possible: (0..domains.len() as u16).map(NodeId).collect(),
        online: up.collect(),
        with_memory,
        with_cpus,
        initiators,
        ranges: rest.ranges,
        cpus,
        domains,
        named,
        records,
        blocks: blocks.get_mut(..dealt.blocks).unwrap_or_default(),
        parts: Parts::default(),
        uncovered: dealt.uncovered,
    }
}

/// How memory was dealt out: how many blocks there are, and how many bytes no node got.
struct Dealt {
    blocks: usize,
    uncovered: u64,
}

/// The table is refused; the usable bytes that it did not cover, if it came to that.
struct Refused {
    uncovered: u64,
}

/// Deals memory out by the SRAT's blocks.
fn deal(
    memory: &MemoryMap<'_>,
    blocks: &mut [Block],
    ranges: &mut Fill<'_, NodeRange>,
    findings: &mut dyn Findings,
) -> Result<Dealt, Refused> {
    let kept = cleanup::clip(blocks, memory, findings);
    let blocks = blocks.get_mut(..kept).unwrap_or_default();
    if !cleanup::sort_and_check(blocks, findings) {
        return Err(Refused { uncovered: 0 });
    }
    let joined = cleanup::join(blocks, memory, findings);
    let blocks = blocks.get(..joined).unwrap_or_default();
    let coverage = cover::cover(memory, blocks, ranges);
    let uncovered = coverage.uncovered;
    if !coverage.accept(memory, findings) {
        return Err(Refused { uncovered });
    }
    coverage.report_lost(ranges.room(), findings);
    Ok(Dealt { blocks: joined, uncovered })
}

/// Node 0 has all memory and all CPUs.
fn one_node<'m>(
    inputs: &Inputs<'_>,
    source: Source,
    mut rest: Rest<'m>,
    findings: &mut dyn Findings,
) -> Draft<'m> {
    rest.ranges.clear();
    let coverage = cover::all_to_node_0(inputs.memory, &mut rest.ranges);
    coverage.report_lost(rest.ranges.room(), findings);
    findings.one_node(OneNode { off: source == Source::Off, end: inputs.memory.end() });
    let cpus = cpus::all_on_node_0(inputs, rest.cpus, findings);
    let node_0 = NodeSet::of(NodeId(0));
    let has = |any: bool| if any { node_0 } else { NodeSet::EMPTY };
    Draft {
        source,
        possible: node_0,
        online: node_0,
        with_memory: has(rest.ranges.len() > 0),
        with_cpus: has(!cpus.is_empty()),
        initiators: NodeSet::EMPTY,
        ranges: rest.ranges,
        cpus,
        domains: &[],
        named: 0,
        records: &mut [],
        blocks: &mut [],
        parts: Parts::default(),
        uncovered: 0,
    }
}
