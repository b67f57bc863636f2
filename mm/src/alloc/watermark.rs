//! Watermarks and lowmem reserve: the formulas.
//!
//! Managed frames of zones come in; marks below which a request is refused come out (reference:
//! zones-and-zonelists, sections 4 to 6).
#![forbid(unsafe_code)]

use crate::zone::{Watermarks, ZoneKind};

/// `watermark_scale_factor` when it is not set: 10/10000 of a zone between two marks.
pub const DEFAULT_SCALE: u32 = 10;
/// Least and most that the formula gives for `min_free_kbytes`, in kB.
pub const MIN_FREE_BOUNDS: (u64, u64) = (128, 262144);
/// Of the memory above a zone, the share that requests able to go there leave in the zone: 1/256,
/// 1/256 and 1/32.
pub const LOWMEM_RESERVE_RATIO: [u64; 3] = [256, 256, 32];

/// How low a request may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The first pass.
    Low,
    /// The second pass.
    Min,
    /// The second pass of a request that may use the reserve: half of min, and a quarter of that
    /// less.
    Reserve,
    /// A bulk request of so many frames.
    LowAnd(u64),
}

impl Mark {
    /// The mark in a zone, in frames.
    #[inline]
    pub fn of(self, marks: Watermarks) -> u64 {
        match self {
            Mark::Low => marks.low,
            Mark::Min => marks.min,
            Mark::Reserve => {
                let half = marks.min - marks.min / 2;
                half - half / 4
            }
            Mark::LowAnd(frames) => marks.low.saturating_add(frames),
        }
    }
}

/// Whether a block of `pages` frames may be taken of `free`: after it more than `mark` and
/// `protection` together must be left, its own last frame counted in.
#[inline]
pub fn leaves_enough(free: u64, pages: u64, mark: u64, protection: u64) -> bool {
    free.saturating_sub(pages.saturating_sub(1)) > mark.saturating_add(protection)
}

/// `min_free_kbytes` for this much managed memory, in kB: the square root of 16 times as much,
/// within [`MIN_FREE_BOUNDS`].
pub fn min_free_kbytes(memory_kb: u64) -> u64 {
    memory_kb.saturating_mul(16).isqrt().clamp(MIN_FREE_BOUNDS.0, MIN_FREE_BOUNDS.1)
}

/// The marks of a zone with `managed` of `total` frames. `scale` is in 1/10000 of the zone.
pub fn zone_watermarks(managed: u64, total: u64, min_free_kbytes: u64, scale: u32) -> Watermarks {
    let pages_min = u128::from(min_free_kbytes / 4);
    let min = (pages_min * u128::from(managed) / u128::from(total.max(1))) as u64;
    let scale = u64::from(scale);
    let scaled =
        (managed / 10000).saturating_mul(scale).saturating_add(managed % 10000 * scale / 10000);
    let step = (min / 4).max(scaled);
    let low = min.saturating_add(step);
    Watermarks { min, low, high: low.saturating_add(step) }
}

/// Frames that a request which could use zone `limit` leaves in `zone`, when the zones of the node
/// have `managed` frames.
pub fn lowmem_reserve(managed: [u64; 3], zone: ZoneKind, limit: ZoneKind) -> u64 {
    let [own, ratio] = [managed, LOWMEM_RESERVE_RATIO].map(|of| of[zone as usize]);
    if own == 0 || ratio == 0 {
        return 0;
    }
    let above = ZoneKind::ALL.into_iter().filter(|&kind| zone < kind && kind <= limit);
    above.map(|kind| managed[kind as usize]).sum::<u64>() / ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(managed: &[u64]) -> (u64, std::vec::Vec<[u64; 3]>) {
        let total = managed.iter().sum();
        let kbytes = min_free_kbytes(total * 4);
        let of = |&zone: &u64| {
            let marks = zone_watermarks(zone, total, kbytes, DEFAULT_SCALE);
            [marks.min, marks.low, marks.high]
        };
        (kbytes, managed.iter().map(of).collect())
    }

    #[test]
    fn examples_of_the_reference() {
        let (kbytes, zones) = marks(&[3840, 124000, 128000, 128000, 128000]);
        assert_eq!(kbytes, 5723);
        assert_eq!(
            zones,
            [[10, 13, 16], [346, 470, 594], [357, 485, 613], [357, 485, 613], [357, 485, 613]]
        );
        let (kbytes, zones) = marks(&[3976, 255000]);
        assert_eq!((kbytes, zones), (4071, std::vec![[15, 18, 21], [1001, 1256, 1511]]));
    }

    /// Linux 6.1.192 in QEMU, test machine `memoryless`, whose zones had these managed frames.
    #[test]
    fn marks_that_linux_printed() {
        for (managed, min, low, high) in
            [(3840, 9, 12, 15), (371549, 930, 1301, 1672), (256578, 642, 898, 1154)]
        {
            let marks = zone_watermarks(managed, 3840 + 371549 + 256578, 6334, 10);
            assert_eq!(marks, Watermarks { min, low, high });
        }
        let managed = [3840, 371549, 0];
        assert_eq!(lowmem_reserve(managed, ZoneKind::Dma, ZoneKind::Normal), 1451);
        assert_eq!(lowmem_reserve(managed, ZoneKind::Dma32, ZoneKind::Normal), 0);
    }

    #[test]
    fn min_free_stays_within_its_bounds() {
        assert_eq!(min_free_kbytes(0), 128);
        assert_eq!(min_free_kbytes(u64::MAX), 262144);
    }

    #[test]
    fn nothing_overflows() {
        let marks = zone_watermarks(1 << 52, 1, u64::MAX, u32::MAX);
        assert!(marks.min <= marks.low && marks.low <= marks.high);
        assert!(!leaves_enough(u64::MAX, 1, u64::MAX, 5));
    }

    #[test]
    fn a_zone_is_protected_from_those_who_can_go_higher() {
        let managed = [4000, 700_000, 320_000];
        use ZoneKind::{Dma, Dma32, Normal};
        assert_eq!(lowmem_reserve(managed, Dma, Dma), 0);
        assert_eq!(lowmem_reserve(managed, Dma, Dma32), 700_000 / 256);
        assert_eq!(lowmem_reserve(managed, Dma, Normal), 1_020_000 / 256);
        assert_eq!(lowmem_reserve(managed, Dma32, Normal), 320_000 / 256);
        assert_eq!(lowmem_reserve(managed, Normal, Normal), 0);
        assert_eq!(lowmem_reserve([0, 5, 5_000_000], Dma, Normal), 0);
    }

    /// As Linux 6.1 takes from min in `__zone_watermark_ok` for `GFP_ATOMIC`.
    #[test]
    fn the_reserve_begins_at_three_eighths_of_min() {
        for (min, mark) in [(0, 0), (1, 1), (2, 1), (8, 3), (930, 349), (5723, 2147)] {
            let marks = Watermarks { min, low: min, high: min };
            assert_eq!(Mark::Reserve.of(marks), mark, "min {min}");
        }
    }

    #[test]
    fn strictly_more_than_the_mark_must_be_left() {
        assert!(leaves_enough(101, 1, 90, 10));
        assert!(!leaves_enough(100, 1, 90, 10));
        assert!(leaves_enough(104, 4, 100, 0));
        assert!(!leaves_enough(103, 4, 100, 0));
    }
}
