//! Ranges that follow each other, put together.

use nearmem::PhysRange;

/// Neighbours among `ranges` as one, in their order.
pub fn runs(ranges: impl Iterator<Item = PhysRange>) -> impl Iterator<Item = PhysRange> {
    let mut ranges = ranges.peekable();
    core::iter::from_fn(move || {
        let PhysRange { start, mut end } = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| next.start == end) {
            end = next.end;
        }
        Some(PhysRange { start, end })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        let ranges = [(1, 2), (2, 4), (7, 8), (9, 10), (10, 11), (2, 3)];
        let ranges = ranges.map(|(start, end)| PhysRange::new(start, end));
        let bounds: Vec<_> =
            runs(ranges.into_iter()).map(|range| (range.start.0, range.end.0)).collect();
        assert_eq!(bounds, [(1, 4), (7, 8), (9, 11), (2, 3)]);
    }
}
