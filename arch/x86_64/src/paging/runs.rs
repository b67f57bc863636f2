//! Frames that follow each other, put together.

use nearmem::{PAGE_SIZE, PhysAddr, PhysRange};

/// Ranges of neighbouring frames, in the order of `frames`.
pub fn runs(frames: impl Iterator<Item = PhysAddr>) -> impl Iterator<Item = PhysRange> {
    let mut frames = frames.peekable();
    core::iter::from_fn(move || {
        let start = frames.next()?;
        let mut end = start + PAGE_SIZE;
        while frames.next_if_eq(&end).is_some() {
            end = end + PAGE_SIZE;
        }
        Some(PhysRange { start, end })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        let frames = [1, 2, 3, 7, 9, 10, 2].map(|frame| PhysAddr(frame * PAGE_SIZE));
        let ranges: Vec<_> = runs(frames.into_iter()).map(PhysRange::whole_frames).collect();
        let bounds: Vec<_> = ranges.iter().map(|range| (range.start.0, range.end.0)).collect();
        assert_eq!(bounds, [(1, 4), (7, 8), (9, 11), (2, 3)]);
    }
}
