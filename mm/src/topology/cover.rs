//! Usable memory and blocks -> usable frames by node, and what is in no block.

use super::NodeRange;
use super::fill::Fill;
use super::memory_map::MemoryMap;
use super::records::Block;
use crate::finding::{Finding, Findings, Kind, Place, Uncovered};
use crate::firmware::srat::SIGNATURE;
use crate::ids::NodeId;
use crate::units::{PAGE_SIZE, PfnRange, PhysAddr, PhysRange};

/// From this many uncovered bytes on the table is refused: 1 MiB, as in Linux.
pub const TOLERATED: u64 = 1 << 20;

/// What became of the memory.
#[derive(Default)]
pub struct Coverage {
    /// Usable bytes in no block.
    pub uncovered: u64,
    /// The first of them.
    first: Option<PhysAddr>,
    /// Whole frames in no block.
    uncovered_frames: u64,
    /// Frames that a node has, those included for which there was no room.
    frames: u64,
    /// Frames that a node has and for which there was no room.
    lost: u64,
}

/// Deals usable memory out by `blocks`, which are ascending and disjoint.
pub fn cover(memory: &MemoryMap<'_>, blocks: &[Block], out: &mut Fill<'_, NodeRange>) -> Coverage {
    let mut coverage = Coverage::default();
    let mut blocks = blocks;
    for usable in memory.usable().iter().map(|frames| frames.bytes()) {
        let mut at = usable.start;
        while let Some((block, rest)) = blocks.split_first() {
            if block.range.start >= usable.end {
                break;
            }
            let both = block.range.intersect(PhysRange { start: at, end: usable.end });
            if !both.is_empty() {
                coverage.gap(PhysRange { start: at, end: both.start });
                coverage.frames(both.whole_frames(), block.node, out);
                at = both.end;
            }
            if block.range.end > usable.end {
                break;
            }
            blocks = rest;
        }
        coverage.gap(PhysRange { start: at, end: usable.end });
    }
    coverage
}

/// Gives all usable memory to node 0.
pub fn all_to_node_0(memory: &MemoryMap<'_>, out: &mut Fill<'_, NodeRange>) -> Coverage {
    let mut coverage = Coverage::default();
    for &frames in memory.usable() {
        coverage.frames(frames, NodeId(0), out);
    }
    coverage
}

impl Coverage {
    /// Says what is wrong with it, and whether the table stands.
    pub fn accept(&self, memory: &MemoryMap<'_>, findings: &mut dyn Findings) -> bool {
        // Without a range that has memory Linux refuses, too.
        let refused = self.uncovered >= TOLERATED || self.frames == 0;
        if self.uncovered >= PAGE_SIZE {
            let first = self.first.unwrap_or_default().0;
            let outcome = if refused { Uncovered::Refused } else { Uncovered::OnNoNode };
            let kind = Kind::SratUncoveredRam { bytes: self.uncovered, first, outcome };
            findings.add(Finding::at(Place::table(SIGNATURE), kind));
        }
        if refused {
            return false;
        }
        let split = memory.frames() - self.frames - self.uncovered_frames;
        if split > 0 {
            let kind = Kind::SratSplitFrames { frames: split };
            findings.add(Finding::at(Place::table(SIGNATURE), kind));
        }
        true
    }

    /// Says when there was too little room for ranges.
    pub fn report_lost(&self, room: usize, findings: &mut dyn Findings) {
        if self.lost > 0 {
            let kind = Kind::NodeRangesFull { limit: room as u32, lost: self.lost };
            findings.add(Finding::new(kind));
        }
    }

    fn gap(&mut self, range: PhysRange) {
        if !range.is_empty() {
            self.first.get_or_insert(range.start);
            self.uncovered += range.len();
            self.uncovered_frames += range.whole_frames().len();
        }
    }

    fn frames(&mut self, frames: PfnRange, node: NodeId, out: &mut Fill<'_, NodeRange>) {
        if frames.is_empty() {
            return;
        }
        self.frames += frames.len();
        if let Some(last) = out.last_mut()
            && last.node == node
            && last.frames.end == frames.start
        {
            last.frames.end = frames.end;
        } else if !out.push(NodeRange { frames, node }) {
            self.lost += frames.len();
        }
    }
}
