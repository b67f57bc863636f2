//! `numa=fake`: a finished draft of a node map in; the same memory on fake nodes out, or the
//! draft as it was and a finding (reference: numa-discovery, section 8).
//!
//! Blocks are cut ([`cut`]), the parts cleaned up and memory dealt out by them as by the SRAT's
//! ranges. A CPU goes to the first part of its node, but every part has all CPUs of the whole.

mod cut;

use super::draft::Draft;
use super::fake::{FakeNodes, Parts};
use super::memory_map::MemoryMap;
use super::records::Block;
use super::{Source, cleanup, cover};
use crate::finding::{FakePart, Finding, Findings, Kind, Merge};
use crate::ids::{NodeId, NodeSet};
use crate::units::PhysRange;

/// Memory for fake nodes.
pub struct Room<'m> {
    /// The nodes that they are parts of.
    pub nodes: &'m mut [NodeId],
    /// Their addresses.
    pub blocks: &'m mut [Block],
}

/// Splits the nodes of a draft. On any failure the draft stays as it is.
pub fn split<'m>(
    fake: &FakeNodes<'_>,
    memory: &MemoryMap<'_>,
    draft: &mut Draft<'m>,
    room: Room<'m>,
    findings: &mut dyn Findings,
) {
    let whole = PhysRange { end: memory.end(), ..PhysRange::default() };
    // Without an SRAT node 0 has everything.
    let mut one = [Block { range: whole, ..Block::NONE }];
    let physical = match draft.source {
        Source::Srat => &mut *draft.blocks,
        _ => &mut one,
    };
    let limit = draft.ranges.room().saturating_sub(memory.usable().len());
    match cut::cut(&fake.split, memory, physical, room, findings) {
        // A range of memory ends where usable memory or a part ends.
        Ok((blocks, _)) if blocks.len() > limit => {
            findings.add(Finding::new(Kind::FakeTooManyParts { limit: limit as u32 }));
        }
        Ok((blocks, of)) => commit(blocks, Parts { of }, memory, draft, findings),
        Err(kind) => findings.add(Finding::new(kind)),
    }
}

/// Makes the parts the nodes of the draft.
fn commit<'m>(
    blocks: &'m mut [Block],
    parts: Parts<'m>,
    memory: &MemoryMap<'_>,
    draft: &mut Draft<'m>,
    findings: &mut dyn Findings,
) {
    for block in blocks.iter() {
        findings.faked(FakePart { node: block.node, range: block.range });
    }
    let mut quiet = MergesOnly(findings);
    let kept = cleanup::clip(blocks, memory, &mut quiet);
    let blocks = blocks.get_mut(..kept).unwrap_or_default();
    // Cut from blocks that do not overlap, parts do not, either.
    cleanup::sort_and_check(blocks, &mut quiet);
    let joined = cleanup::join(blocks, memory, &mut quiet);
    draft.blocks = blocks.get_mut(..joined).unwrap_or_default();
    draft.ranges.clear();
    cover::cover(memory, draft.blocks, &mut draft.ranges);

    let nodes: NodeSet = draft.ranges.as_slice().iter().map(|range| range.node).collect();
    let first = |whole: NodeId| nodes.iter().find(|&node| parts.whole(node) == whole);
    // A node without memory has no part: its CPUs go to node 0, as in Linux.
    let home = |whole: NodeId| first(whole).or(nodes.first()).unwrap_or_default();
    draft.cpus.iter_mut().for_each(|cpu| cpu.node = home(cpu.node));
    draft.records.iter_mut().for_each(|record| record.node = home(record.node));
    let boot = draft.cpus.first().map(|cpu| parts.whole(cpu.node));
    let with_boot = nodes.iter().filter(|&node| Some(parts.whole(node)) == boot);
    draft.with_cpus = draft.with_cpus.iter().map(home).chain(with_boot).collect();
    draft.initiators = draft.initiators.iter().filter_map(first).collect();
    draft.source = Source::Fake;
    draft.possible = nodes;
    draft.online = nodes;
    draft.with_memory = nodes;
    draft.parts = parts;
}

/// Passes merges on and keeps quiet about what the clean-up finds: it was said of the blocks that
/// the parts were cut from.
struct MergesOnly<'a>(&'a mut dyn Findings);

impl Findings for MergesOnly<'_> {
    fn add(&mut self, _finding: Finding) {}

    fn merged(&mut self, merge: Merge) {
        self.0.merged(merge);
    }
}
