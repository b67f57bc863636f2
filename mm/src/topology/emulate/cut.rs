//! Blocks of nodes -> parts of them, each of a fake node.
//!
//! All in whole frames: a part ends where a frame ends, so that no frame is lost between two.

use super::Room;
use crate::finding::{Finding, Findings, Kind};
use crate::ids::{MAX_NODES, NodeId, NodeSet};
use crate::topology::fake::Split;
use crate::topology::fill::Fill;
use crate::topology::memory_map::MemoryMap;
use crate::topology::records::Block;
use crate::units::{PAGE_SHIFT, PAGE_SIZE, Pfn, PfnRange};

/// The least size of a fake node, and what sizes are multiples of: 32 MiB in frames.
const UNIT: u64 = (32 << 20) >> PAGE_SHIFT;
/// The end of zone DMA32.
const DMA32_END: Pfn = Pfn((4 << 30) >> PAGE_SHIFT);

/// Cuts blocks, which are ascending and disjoint; they keep their ranges. Gives the parts in the
/// order in which they were cut, and for every fake node the node that it is a part of.
///
/// # Errors
/// It cannot be done: why.
pub fn cut<'m>(
    split: &Split,
    memory: &MemoryMap<'_>,
    physical: &mut [Block],
    room: Room<'m>,
    findings: &mut dyn Findings,
) -> Result<(&'m mut [Block], &'m [NodeId]), Kind> {
    for block in physical.iter_mut() {
        block.left_from = block.range.start.pfn_up();
    }
    let ids = match *split {
        Split::Nodes(wanted) => wanted.min(MAX_NODES as u32),
        _ => MAX_NODES as u32,
    };
    let (blocks, nodes) = (Fill::new(room.blocks), Fill::new(room.nodes));
    let mut cutter = Cutter { memory, physical, blocks, nodes, ids, count: 0 };
    match *split {
        Split::Nodes(wanted) => {
            if wanted > ids {
                findings.add(Finding::new(Kind::FakeTooManyNodes { wanted, limit: ids }));
            }
            cutter.by_number()?;
        }
        Split::Size(bytes) => cutter.by_size(bytes, findings)?,
        Split::EachNode(parts) => cutter.each_node(parts)?,
    }
    match cutter.blocks.len() {
        0 => Err(Kind::FakeTooSmall { nodes: 1 }),
        _ => Ok((cutter.blocks.finish(), cutter.nodes.finish())),
    }
}

struct Cutter<'a, 'm> {
    memory: &'a MemoryMap<'a>,
    physical: &'a mut [Block],
    blocks: Fill<'m, Block>,
    nodes: Fill<'m, NodeId>,
    /// How many node ids there are; after the last one it starts again at 0.
    ids: u32,
    /// Parts so far.
    count: u32,
}

impl Cutter<'_, '_> {
    /// `fake=N`. What does not divide by the unit makes the first nodes one unit larger.
    fn by_number(&mut self) -> Result<(), Kind> {
        let nodes = u64::from(self.ids.max(1));
        let share = self.memory.frames() / nodes;
        let larger = share % UNIT * nodes / UNIT;
        let size = share - share % UNIT;
        if size == 0 {
            return Err(Kind::FakeTooSmall { nodes: self.ids });
        }
        self.round_robin(size, |part| match u64::from(part) < larger {
            true => size + UNIT,
            false => size,
        })
    }

    /// `fake=SIZE`.
    fn by_size(&mut self, bytes: u64, findings: &mut dyn Findings) -> Result<(), Kind> {
        let least = (self.memory.frames() / MAX_NODES as u64).max(UNIT).next_multiple_of(UNIT);
        let wanted = bytes / PAGE_SIZE;
        if wanted < least {
            let kind = Kind::FakeSizeRaised { bytes, least: least * PAGE_SIZE };
            findings.add(Finding::new(kind));
        }
        let size = wanted.max(least);
        let size = size - size % UNIT;
        self.round_robin(size, |_| size)
    }

    /// Cuts one part of each node in turn, until nothing is left. A part has `size` usable frames
    /// if its node has, and is at least `length` frames long, which may differ by part.
    fn round_robin(&mut self, size: u64, length: impl Fn(u32) -> u64) -> Result<(), Kind> {
        let mut nodes: NodeSet = self.physical.iter().map(|block| block.node).collect();
        while !nodes.is_empty() {
            let turn = nodes;
            for node in turn.iter() {
                let Some(left) = self.next_of(node).map(|block| block.left()) else {
                    nodes.remove(node);
                    continue;
                };
                let shortest = Pfn(left.start.0 + length(self.count));
                let end = match self.memory.reach(left, size) {
                    None => left.end,
                    Some(enough) => {
                        let longer = enough.0.saturating_sub(shortest.0).next_multiple_of(UNIT);
                        Pfn(shortest.0 + longer)
                    }
                };
                let end = self.up_to_dma32_end(end);
                let rest = PfnRange { start: end, end: left.end };
                let enough = self.memory.reach(rest, size).is_some();
                self.cut_off(node, if enough { end } else { left.end })?;
            }
        }
        Ok(())
    }

    /// `fake=NU`. The first block of a node says how long its parts are.
    fn each_node(&mut self, parts: u32) -> Result<(), Kind> {
        while let Some(first) = self.first(|_| true) {
            let (node, frames) = (first.node, first.left().len());
            let length = (frames / u64::from(parts.max(1))).max(1).next_multiple_of(UNIT);
            let before = self.count;
            while let Some(block) = self.next_of(node) {
                let end = Pfn(block.left().start.0 + length);
                self.cut_off(node, self.up_to_dma32_end(end))?;
            }
            let got = self.count - before;
            if got < parts {
                return Err(Kind::FakeTooFewParts { node, parts: got, wanted: parts });
            }
        }
        match self.count {
            0 => Err(Kind::FakeTooFewParts { node: NodeId(0), parts: 0, wanted: parts }),
            _ => Ok(()),
        }
    }

    /// `end`, or the end of zone DMA32 when the next part would have too little of that zone.
    fn up_to_dma32_end(&self, end: Pfn) -> Pfn {
        let below = PfnRange { start: end, end: DMA32_END };
        let too_little = end < DMA32_END && self.memory.reach(below, UNIT).is_none();
        if too_little { DMA32_END } else { end }
    }

    /// The first block in table order, of those that `of` takes, of which something is left.
    fn first(&mut self, of: impl Fn(&Block) -> bool) -> Option<&mut Block> {
        let left = |block: &&mut Block| of(block) && !block.left().is_empty();
        self.physical.iter_mut().filter(left).min_by_key(|block| block.group)
    }

    fn next_of(&mut self, node: NodeId) -> Option<&mut Block> {
        self.first(|block| block.node == node)
    }

    /// Makes what is left of the node's next block, up to `end`, a part of the next fake node.
    fn cut_off(&mut self, node: NodeId, end: Pfn) -> Result<(), Kind> {
        let limit = self.blocks.room() as u32;
        let record = self.count;
        let Some(block) = self.next_of(node) else { return Ok(()) };
        let frames = PfnRange { end: end.min(block.left().end), ..block.left() };
        block.left_from = frames.end;
        let Block { hotplug, nonvolatile, .. } = *block;
        let fake = NodeId((record % self.ids.max(1)) as u16);
        let range = frames.bytes();
        let part = Block { range, node: fake, hotplug, nonvolatile, record, ..Block::NONE };
        let new = fake.index() == self.nodes.len();
        if !self.blocks.push(part) || new && !self.nodes.push(node) {
            return Err(Kind::FakeTooManyParts { limit });
        }
        self.count += 1;
        Ok(())
    }
}
