//! A list of byte ranges in memory that the caller provides: ascending, disjoint, and never two
//! that touch.

use crate::units::{PhysAddr, PhysRange};

/// No slot is left for another range; the list is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

/// The list.
#[derive(Debug)]
pub(crate) struct RegionList<'m> {
    slots: &'m mut [PhysRange],
    len: usize,
}

impl<'m> RegionList<'m> {
    /// An empty list that can grow to as many ranges as there are slots. What they hold is
    /// overwritten.
    pub(crate) fn new(slots: &'m mut [PhysRange]) -> RegionList<'m> {
        RegionList { slots, len: 0 }
    }

    /// The ranges.
    pub(crate) fn as_slice(&self) -> &[PhysRange] {
        &self.slots[..self.len]
    }

    /// Adds a range and joins it with all that it overlaps or touches. An empty one adds nothing.
    pub(crate) fn insert(&mut self, range: PhysRange) -> Result<(), Full> {
        if range.is_empty() {
            return Ok(());
        }
        let from = self.as_slice().partition_point(|old| old.end < range.start);
        let to = self.as_slice().partition_point(|old| old.start <= range.end);
        let joined = match self.as_slice().get(from..to) {
            Some([first, .., last]) => {
                PhysRange { start: first.start.min(range.start), end: last.end.max(range.end) }
            }
            Some([only]) => {
                PhysRange { start: only.start.min(range.start), end: only.end.max(range.end) }
            }
            _ => range,
        };
        self.replace(from, to, &[joined])
    }

    /// Takes a range out of all that it overlaps. What was not there stays not there.
    pub(crate) fn remove(&mut self, range: PhysRange) -> Result<(), Full> {
        if range.is_empty() {
            return Ok(());
        }
        let from = self.as_slice().partition_point(|old| old.end <= range.start);
        let to = self.as_slice().partition_point(|old| old.start < range.end);
        let (Some(first), Some(last)) = (self.slots.get(from), self.slots.get(to.wrapping_sub(1)))
        else {
            return Ok(());
        };
        if from >= to {
            return Ok(());
        }
        let left = PhysRange { start: first.start, end: range.start };
        let right = PhysRange { start: range.end, end: last.end };
        match (left.is_empty(), right.is_empty()) {
            (true, true) => self.replace(from, to, &[]),
            (false, true) => self.replace(from, to, &[left]),
            (true, false) => self.replace(from, to, &[right]),
            (false, false) => self.replace(from, to, &[left, right]),
        }
    }

    /// The range that holds `addr`.
    pub(crate) fn containing(&self, addr: PhysAddr) -> Option<PhysRange> {
        self.first_after(addr).filter(|range| range.contains(addr))
    }

    /// The first range that ends above `addr`: the one that holds it, or else the next.
    pub(crate) fn first_after(&self, addr: PhysAddr) -> Option<PhysRange> {
        let at = self.as_slice().partition_point(|range| range.end <= addr);
        self.as_slice().get(at).copied()
    }

    /// How many ranges of the list overlap `within`.
    pub(crate) fn count_within(&self, within: PhysRange) -> u64 {
        let from = self.as_slice().partition_point(|range| range.end <= within.start);
        let to = self.as_slice().partition_point(|range| range.start < within.end);
        to.saturating_sub(from) as u64
    }

    /// What of `within` is in no range of the list, ascending; no gap is empty.
    pub(crate) fn gaps(&self, within: PhysRange) -> impl Iterator<Item = PhysRange> + '_ {
        let mut start = within.start;
        core::iter::from_fn(move || {
            while start < within.end {
                let next = self
                    .first_after(start)
                    .unwrap_or(PhysRange { start: within.end, end: within.end });
                let gap = PhysRange { start, end: next.start.min(within.end) };
                start = next.end.max(start);
                if !gap.is_empty() {
                    return Some(gap);
                }
            }
            None
        })
    }

    /// Puts `new` (at most 2 ranges) in the place of the ranges `from..to`.
    fn replace(&mut self, from: usize, to: usize, new: &[PhysRange]) -> Result<(), Full> {
        let len = self.len - (to - from) + new.len();
        if len > self.slots.len() {
            return Err(Full);
        }
        self.slots.copy_within(to..self.len, from + new.len());
        self.slots[from..from + new.len()].copy_from_slice(new);
        self.len = len;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(slots: &mut [PhysRange]) -> RegionList<'_> {
        let mut list = RegionList::new(slots);
        for (start, end) in [(10, 20), (30, 40), (50, 60)] {
            list.insert(PhysRange::new(start, end)).unwrap();
        }
        list
    }

    fn pairs(list: &RegionList<'_>) -> std::vec::Vec<(u64, u64)> {
        list.as_slice().iter().map(|range| (range.start.0, range.end.0)).collect()
    }

    #[test]
    fn neighbours_and_overlaps_become_one() {
        for (range, expected) in [
            ((20, 30), &[(10, 40), (50, 60)][..]),
            ((0, 10), &[(0, 20), (30, 40), (50, 60)]),
            ((0, 100), &[(0, 100)]),
            ((12, 18), &[(10, 20), (30, 40), (50, 60)]),
            ((35, 55), &[(10, 20), (30, 60)]),
            ((22, 28), &[(10, 20), (22, 28), (30, 40), (50, 60)]),
            ((60, 60), &[(10, 20), (30, 40), (50, 60)]),
        ] {
            let mut slots = [PhysRange::default(); 4];
            let mut list = list(&mut slots);
            list.insert(PhysRange::new(range.0, range.1)).unwrap();
            assert_eq!(pairs(&list), expected, "{range:?}");
        }
    }

    #[test]
    fn removing_cuts_and_splits() {
        for (range, expected) in [
            ((0, 10), &[(10, 20), (30, 40), (50, 60)][..]),
            ((20, 30), &[(10, 20), (30, 40), (50, 60)]),
            ((70, 80), &[(10, 20), (30, 40), (50, 60)]),
            ((33, 35), &[(10, 20), (30, 33), (35, 40), (50, 60)]),
            ((15, 55), &[(10, 15), (55, 60)]),
            ((10, 60), &[]),
            ((30, 40), &[(10, 20), (50, 60)]),
        ] {
            let mut slots = [PhysRange::default(); 4];
            let mut list = list(&mut slots);
            list.remove(PhysRange::new(range.0, range.1)).unwrap();
            assert_eq!(pairs(&list), expected, "{range:?}");
        }
    }

    #[test]
    fn a_full_list_says_so_and_stays() {
        let mut slots = [PhysRange::default(); 3];
        let mut list = list(&mut slots);
        assert_eq!(list.insert(PhysRange::new(22, 28)), Err(Full));
        assert_eq!(list.remove(PhysRange::new(33, 35)), Err(Full));
        assert_eq!(pairs(&list), [(10, 20), (30, 40), (50, 60)]);
        // What needs no further slot still works.
        list.insert(PhysRange::new(20, 30)).unwrap();
        assert_eq!(pairs(&list), [(10, 40), (50, 60)]);
    }

    #[test]
    fn gaps_are_what_is_between() {
        let mut slots = [PhysRange::default(); 3];
        let list = list(&mut slots);
        let gaps: std::vec::Vec<_> =
            list.gaps(PhysRange::new(15, 70)).map(|gap| (gap.start.0, gap.end.0)).collect();
        assert_eq!(gaps, [(20, 30), (40, 50), (60, 70)]);
        assert_eq!(list.gaps(PhysRange::new(31, 39)).count(), 0);
        assert_eq!(list.gaps(PhysRange::new(39, 31)).count(), 0);
    }
}
