//! Who has which frame: a mark for each, set by whoever took it.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use nearmem::topology::NodeMap;
use nearmem::{Pfn, PfnRange};

/// The marks of all frames of a machine.
pub struct Owners {
    ranges: Vec<(PfnRange, Vec<AtomicBool>)>,
}

impl Owners {
    pub fn new(map: &NodeMap<'_>) -> Owners {
        let marks = |frames: PfnRange| (0..frames.len()).map(|_| AtomicBool::new(false)).collect();
        let ranges = map.ranges().iter().map(|range| (range.frames, marks(range.frames)));
        Owners { ranges: ranges.collect() }
    }

    fn mark(&self, frame: Pfn) -> &AtomicBool {
        let (frames, marks) = self
            .ranges
            .iter()
            .find(|(frames, _)| frames.contains(frame))
            .unwrap_or_else(|| panic!("{frame:?} is no frame"));
        &marks[(frame - frames.start) as usize]
    }

    /// Frames were taken.
    pub fn take(&self, frames: PfnRange) {
        for frame in (frames.start.0..frames.end.0).map(Pfn) {
            assert!(!self.mark(frame).swap(true, SeqCst), "{frame:?} has an owner already");
        }
    }

    /// Frames are about to be given back.
    pub fn give(&self, frames: PfnRange) {
        for frame in (frames.start.0..frames.end.0).map(Pfn) {
            assert!(self.mark(frame).swap(false, SeqCst), "{frame:?} had no owner");
        }
    }

    /// Whether somebody has this frame.
    pub fn has(&self, frame: Pfn) -> bool {
        self.mark(frame).load(SeqCst)
    }

    /// How many frames have an owner.
    pub fn owned(&self) -> usize {
        let marks = self.ranges.iter().flat_map(|(_, marks)| marks);
        marks.filter(|mark| mark.load(SeqCst)).count()
    }
}
