//! The SRAT's blocks against usable memory and against each other (reference: numa-discovery,
//! section 5).
//!
//! Blocks in table order go in; disjoint blocks, ascending, come out: those without memory are
//! gone, the rest ends with memory, and neighbours of one node are joined over the hole between
//! them. Blocks of two nodes that overlap have the whole table refused.

use super::memory_map::MemoryMap;
use super::records::Block;
use crate::finding::{Finding, Findings, Kind, Merge};
use crate::units::{PhysAddr, PhysRange};

/// Drops and cuts; the order stays. Says how many are left, the first ones of `blocks`.
pub fn clip(blocks: &mut [Block], memory: &MemoryMap<'_>, findings: &mut dyn Findings) -> usize {
    let end = memory.end();
    let mut kept = 0;
    for at in 0..blocks.len() {
        let Some(mut block) = blocks.get(at).copied() else { break };
        let range = block.range;
        let touches = memory.touches(range);
        let kind = match (block.hotplug, block.nonvolatile) {
            // Of a window nothing is expected.
            _ if block.window => None,
            (true, _) if !touches || range.end > end => Some(Kind::SratHotplugWindow { range }),
            (false, true) if !touches => Some(Kind::SratNonvolatileRange { range }),
            (false, false) if !touches => Some(Kind::SratMemoryBeyondMap { range }),
            _ => None,
        };
        if let Some(kind) = kind {
            findings.add(Finding::at(block.place(), kind));
        }
        if touches && let Some(slot) = blocks.get_mut(kept) {
            block.range.end = range.end.min(end);
            *slot = block;
            kept += 1;
        }
    }
    kept
}

/// Sorts blocks by address and looks for overlaps: false when two nodes' blocks share a byte.
/// Overlaps within a node are looked for only when there are none between nodes.
pub fn sort_and_check(blocks: &mut [Block], findings: &mut dyn Findings) -> bool {
    blocks.sort_unstable_by_key(|block| (block.range.start, block.order()));
    let mut sound = true;
    for (block, other) in overlaps(blocks).filter(|(block, other)| block.node != other.node) {
        sound = false;
        let kind = Kind::SratOverlap {
            node: block.node,
            range: block.range,
            other: other.node,
            others: other.range,
        };
        findings.add(Finding::at(block.place(), kind));
    }
    if !sound {
        return false;
    }
    for (block, other) in overlaps(blocks) {
        let kind =
            Kind::SratOverlapSameNode { node: block.node, range: block.range, other: other.range };
        findings.add(Finding::at(block.place(), kind));
    }
    true
}

/// Every block that overlaps the one that reaches furthest of those before it, with that one. One
/// pass over blocks that are sorted by address.
///
/// The first block that overlaps any earlier one of another node is among them: if the furthest
/// were of its own node, that one and the other would overlap already.
fn overlaps(blocks: &[Block]) -> impl Iterator<Item = (Block, Block)> + '_ {
    let mut furthest = Block::NONE;
    blocks.iter().filter_map(move |&block| {
        let before = furthest;
        if block.range.end > before.range.end {
            furthest = block;
        }
        (before.range.end > block.range.start).then_some((block, before))
    })
}

/// Joins neighbours of one node, holes included. `blocks` are sorted and those of different nodes
/// do not overlap. Says how many are left, the first ones of `blocks`, ascending.
///
/// Linux joins in table order and logs each step; so do we, in the same order.
pub fn join(blocks: &mut [Block], memory: &MemoryMap<'_>, findings: &mut dyn Findings) -> usize {
    for group in blocks.chunk_by_mut(|a, b| a.node == b.node) {
        let first = group.iter().map(Block::order).min().unwrap_or(0);
        let mut end = group.first().map(|block| block.range.end).unwrap_or_default();
        for block in group {
            block.group = first;
            note_hole(block, end, memory, findings);
            end = end.max(block.range.end);
        }
    }
    blocks.sort_unstable_by_key(|block| (block.group, block.order()));
    let mut kept = 0_usize;
    for at in 0..blocks.len() {
        let Some(block) = blocks.get(at).copied() else { break };
        let last = kept.checked_sub(1).and_then(|last| blocks.get_mut(last));
        if let Some(last) = last
            && last.group == block.group
        {
            merge(last, &block, findings);
        } else if let Some(slot) = blocks.get_mut(kept) {
            *slot = block;
            kept += 1;
        }
    }
    let joined = blocks.get_mut(..kept).unwrap_or_default();
    joined.sort_unstable_by_key(|block| block.range.start);
    kept
}

/// Makes `into` the hull of both.
fn merge(into: &mut Block, block: &Block, findings: &mut dyn Findings) {
    let (first, second) = (into.range, block.range);
    let hull = PhysRange { start: first.start.min(second.start), end: first.end.max(second.end) };
    into.range = hull;
    into.hotplug |= block.hotplug;
    into.nonvolatile |= block.nonvolatile;
    findings.merged(Merge { node: into.node, first, second, hull });
}

/// Says when there is memory between `end` and a block.
fn note_hole(block: &Block, end: PhysAddr, memory: &MemoryMap<'_>, findings: &mut dyn Findings) {
    let hole = PhysRange { start: end, end: block.range.start };
    if memory.touches(hole) {
        let kind = Kind::SratHoleWithRam { node: block.node, hole };
        findings.add(Finding::at(block.place(), kind));
    }
}
