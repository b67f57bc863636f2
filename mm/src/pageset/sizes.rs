//! How many frames move at once, and how many may be parked.
#![forbid(unsafe_code)]

use super::CAPACITY;

/// The largest batch, in frames.
pub const BATCH_MAX: usize = 63;
/// The most frames that move between a zone and a pageset at once: a batch and the one that is
/// asked for. That is as many as a zone can take or give with one atomic operation.
pub const ROW: usize = BATCH_MAX + 1;

/// Batch and high of a pageset, in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PagesetSizes {
    /// Frames that a refill parks, beside the one that is asked for: 1 to [`BATCH_MAX`].
    pub batch: u32,
    /// From this many on, freed frames go back to the zone. By Linux's formula; the pageset holds
    /// less when a page has no room for as many, see [`PagesetSizes::limit`].
    pub high: u64,
}

impl PagesetSizes {
    /// Sizes of the boot pageset, which never holds a frame.
    pub const BOOT: PagesetSizes = PagesetSizes { batch: 1, high: 0 };

    /// The sizes for a zone of `managed` frames with watermark `low`, whose node has
    /// `cpus` CPUs; when it has none, all CPUs of the machine count. `low` is 0 until the
    /// watermarks are set (reference: buddy-and-pagesets, section 3).
    pub fn of_zone(managed: u64, low: u64, cpus: u64) -> PagesetSizes {
        let batch = batch(managed);
        let high = (low / cpus.max(1)).max(4 * u64::from(batch));
        PagesetSizes { batch, high }
    }

    /// Where frames go back to the zone, as a pageset of one page has it: `high`, or [`CAPACITY`].
    /// It holds one less at most.
    pub fn limit(&self) -> u32 {
        self.high.min(CAPACITY as u64) as u32
    }
}

/// 1/1024 of the zone but at most 1 MiB, of that a quarter, then one less than a power of two, so
/// that batches of many CPUs do not all fall on the same colours.
fn batch(managed: u64) -> u32 {
    let quarter = ((managed >> 10).min(256) / 4).max(1);
    let wide = quarter + quarter / 2;
    let power = 1u64 << wide.ilog2();
    (power - 1).max(1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 256;

    #[test]
    fn batch_grows_with_the_zone_as_the_reference_says() {
        for (managed, expected) in [
            (0, 1),
            (1, 1),
            (16 * MIB, 1),
            (32 * MIB, 1),
            (64 * MIB, 3),
            (128 * MIB, 7),
            (192 * MIB, 15),
            (256 * MIB, 15),
            (512 * MIB, 31),
            (768 * MIB, 63),
            (u64::MAX, 63),
        ] {
            assert_eq!(batch(managed), expected, "{managed} frames");
            assert!(expected as usize <= BATCH_MAX);
        }
    }

    /// Managed, low, CPUs of the node, high and batch as Linux 6.1 printed them (test machine
    /// `memoryless`, nodes 0 and 2).
    #[test]
    fn high_shares_the_low_watermark_among_the_cpus_of_the_node() {
        for (managed, low, cpus, high, batch) in
            [(3840, 12, 1, 12, 1), (371549, 1301, 1, 1301, 63), (256578, 898, 1, 898, 63)]
        {
            assert_eq!(PagesetSizes::of_zone(managed, low, cpus), PagesetSizes { batch, high });
        }
        assert_eq!(PagesetSizes::of_zone(256578, 898, 4).high, 4 * 63);
        assert_eq!(PagesetSizes::of_zone(256578, 0, 0).high, 4 * 63);
    }

    #[test]
    fn a_pageset_never_holds_more_than_its_page_has_room_for() {
        assert_eq!(PagesetSizes { batch: 63, high: 1301 }.limit(), 960);
        assert_eq!(PagesetSizes { batch: 63, high: 898 }.limit(), 898);
        assert_eq!(PagesetSizes::BOOT.limit(), 0);
        // However small the zone, a whole batch fits below the limit.
        let small = PagesetSizes::of_zone(100, 0, 64);
        assert!(small.limit() > small.batch);
    }
}
