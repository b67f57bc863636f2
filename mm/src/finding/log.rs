//! A list of findings in the caller's memory.

use super::{Finding, Findings};

/// Keeps findings in slots that the caller brings, the first ones when there are too many.
pub struct Log<'m> {
    slots: &'m mut [Option<Finding>],
    taken: usize,
}

impl<'m> Log<'m> {
    /// An empty log with as many slots as are given.
    pub fn new(slots: &'m mut [Option<Finding>]) -> Log<'m> {
        slots.fill(None);
        Log { slots, taken: 0 }
    }

    /// The findings that are kept, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> + '_ {
        self.slots.iter().flatten()
    }

    /// How many were made and not kept.
    pub fn dropped(&self) -> usize {
        self.taken.saturating_sub(self.slots.len())
    }
}

impl Findings for Log<'_> {
    fn add(&mut self, finding: Finding) {
        if let Some(slot) = self.slots.get_mut(self.taken) {
            *slot = Some(finding);
        }
        self.taken = self.taken.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut slots = [None; 2];
        let mut log = Log::new(&mut slots);
        for _ in 0..5 {
            log.add(Finding::new(Kind::SratAbsent));
        }
        assert_eq!((log.iter().count(), log.dropped()), (2, 3));
    }
}
