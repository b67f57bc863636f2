//! Rows: 64 frames, one bit each, set = free. Plain arithmetic on numbers.
#![forbid(unsafe_code)]

use crate::zone::rows::lowest_run;

pub(super) use crate::zone::rows::ROW_FRAMES;

/// For orders 1 to 6: where an aligned run may begin.
const STARTS: [u64; 7] = [
    u64::MAX,
    0x5555_5555_5555_5555,
    0x1111_1111_1111_1111,
    0x0101_0101_0101_0101,
    0x0001_0001_0001_0001,
    0x0000_0001_0000_0001,
    1,
];

/// A bit wherever an aligned run of 2^order free frames begins; `order` is 0 to 6, and none begins
/// for more.
pub(super) fn runs(row: u64, order: u8) -> u64 {
    let Some(starts) = STARTS.get(usize::from(order)) else { return 0 };
    let doubled = (0..order).fold(row, |runs, step| runs & runs >> (1 << step));
    doubled & starts
}

/// The lowest `count` of the bits that are set, or all of them, and how many these are. By runs:
/// where frames are free, their neighbours mostly are.
pub(super) const fn lowest(row: u64, count: u32) -> (u64, u32) {
    let (mut taken, mut missing) = (0, count);
    while row != taken && missing > 0 {
        let (_, count, run) = lowest_run(row & !taken, missing);
        taken |= run;
        missing -= count;
    }
    (taken, count - missing)
}

/// Bits `first..first + count` of a row; both are cut off at 64.
pub(super) const fn mask(first: u32, count: u32) -> u64 {
    if first >= ROW_FRAMES || count == 0 {
        return 0;
    }
    let ones = if count >= ROW_FRAMES { u64::MAX } else { (1 << count) - 1 };
    ones << first
}

/// The row that holds all of frames `first..first + count` of a block, and which of its bits;
/// `None` when they lie in several.
#[inline]
pub(super) const fn one_row(first: u32, count: u32) -> Option<(usize, u64)> {
    let bit = first % ROW_FRAMES;
    if bit + count > ROW_FRAMES || count == 0 {
        return None;
    }
    Some(((first / ROW_FRAMES) as usize, u64::MAX >> (ROW_FRAMES - count) << bit))
}

/// Which bits of row `row` of a block belong to frames `first..first + count` of the block.
pub(super) fn part_of(row: usize, first: u32, count: u32) -> u64 {
    let start = row as u32 * ROW_FRAMES;
    let within = |frame: u32| frame.clamp(start, start + ROW_FRAMES) - start;
    let from = within(first);
    mask(from, within(first + count) - from)
}

/// Which rows hold frames `first..first + count` of a block, and which of their bits.
pub(super) fn parts(first: u32, count: u32) -> impl Iterator<Item = (usize, u64)> + Clone {
    let end = first + count;
    let mut at = first;
    core::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let (row, bit) = (at / ROW_FRAMES, at % ROW_FRAMES);
        let part = (ROW_FRAMES - bit).min(end - at);
        at += part;
        Some((row as usize, mask(bit, part)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// What `runs` says, frame by frame.
    fn slow_runs(row: u64, order: u8) -> u64 {
        let pages = 1 << order;
        (0..64)
            .step_by(pages as usize)
            .filter(|&first| row >> first & mask(0, pages) == mask(0, pages))
            .fold(0, |runs, first| runs | 1 << first)
    }

    #[test]
    fn runs_are_aligned_and_whole() {
        assert_eq!(runs(0b1110, 1), 0b100);
        assert_eq!(runs(0b0110, 1), 0);
        assert_eq!(runs(u64::MAX, 6), 1);
        assert_eq!(runs(u64::MAX - 1, 6), 0);
        assert_eq!(runs(u64::MAX, 7), 0);
    }

    #[test]
    fn parts_cover_the_frames_and_no_more() {
        for (first, count, expected) in [
            (0, 1, &[(0, 1)][..]),
            (63, 2, &[(0, 1 << 63), (1, 1)]),
            (64, 128, &[(1, u64::MAX), (2, u64::MAX)]),
            (500, 12, &[(7, 0xfff << 52)]),
            (7, 0, &[]),
        ] {
            assert_eq!(parts(first, count).collect::<Vec<_>>(), expected, "{first} {count}");
        }
        assert_eq!(parts(0, 512).count(), 8);
    }

    proptest::proptest! {
        #[test]
        fn runs_are_what_counting_finds(a: u64, b: u64, order in 0_u8..7) {
            // Mostly ones, so that long runs occur.
            for row in [a, a | b, a | b | a.rotate_left(17) | b.rotate_left(31)] {
                proptest::prop_assert_eq!(runs(row, order), slow_runs(row, order));
            }
        }

        #[test]
        fn the_lowest_are_the_lowest(a: u64, b: u64, count in 0_u32..70) {
            for row in [a, a | b, a & b, u64::MAX, 0] {
                let (taken, number) = lowest(row, count);
                let expected = (0..64).map(|bit| 1 << bit).filter(|bit| row & bit != 0);
                let expected = expected.take(count as usize).fold(0, |bits, bit: u64| bits | bit);
                proptest::prop_assert_eq!((taken, number), (expected, expected.count_ones()));
            }
        }

        #[test]
        fn parts_add_up(first in 0_u32..512, count in 0_u32..512) {
            let count = count.min(512 - first);
            let ones: u32 = parts(first, count).map(|(_, mask)| mask.count_ones()).sum();
            proptest::prop_assert_eq!(ones, count);
            let of_rows = (0..8).map(|row| (row, part_of(row, first, count)));
            let of_rows = of_rows.filter(|&(_, mask)| mask != 0);
            proptest::prop_assert!(of_rows.eq(parts(first, count)));
            let mut all = parts(first, count);
            let one = all.next().filter(|_| all.next().is_none());
            proptest::prop_assert_eq!(one_row(first, count), one);
        }
    }
}
