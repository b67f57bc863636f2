//! A block of frames as one word.

use crate::ids::MAX_NODES;
use crate::units::{Order, Pfn};
use crate::zone::ZoneKind;

const ORDER_AT: u32 = 48;
const ZONE_AT: u32 = 52;

/// Index of the zone (12 bits), order (4 bits) and first frame (48 bits) in one word, so that one
/// subtraction tells whether a block is a single frame of the right zone, and how far it lies from
/// another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct BlockWord(u64);

const _: () = assert!(ZoneKind::ALL.len() * MAX_NODES <= 1 << (u64::BITS - ZONE_AT));
const _: () = assert!(ZoneKind::Normal.frames().end.0 <= 1 << ORDER_AT);
const _: () = assert!(Order::COUNT <= 1 << (ZONE_AT - ORDER_AT));

impl BlockWord {
    /// A block of a zone. `zone` is the zone's index, below 4096; `pfn` is below 2^48, as the
    /// frames of all zones are.
    #[inline]
    pub const fn new(zone: u16, order: Order, pfn: Pfn) -> BlockWord {
        BlockWord((zone as u64) << ZONE_AT | (order.get() as u64) << ORDER_AT | pfn.0)
    }

    /// From [`BlockWord::bits`].
    #[inline]
    pub const fn from_bits(bits: u64) -> BlockWord {
        BlockWord(bits)
    }

    /// As a number.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The first frame.
    #[inline]
    pub const fn pfn(self) -> Pfn {
        Pfn(self.0 & ((1 << ORDER_AT) - 1))
    }

    /// How many frames, as an order.
    #[inline]
    pub const fn order(self) -> Order {
        match Order::new((self.0 >> ORDER_AT) as u8 & 0xf) {
            Some(order) => order,
            // No word is made with more.
            None => Order::MAX,
        }
    }

    /// The index of the zone.
    #[inline]
    pub const fn zone(self) -> u16 {
        (self.0 >> ZONE_AT) as u16
    }

    /// The single frame `offset` frames above this one.
    #[inline]
    pub const fn plus(self, offset: u32) -> BlockWord {
        BlockWord(self.0.wrapping_add(offset as u64))
    }

    /// How many frames it lies above the single frame `base`; `None` when it is no single frame,
    /// of another zone, below it, or 2^32 frames or more away.
    #[inline]
    pub const fn offset_from(self, base: BlockWord) -> Option<u32> {
        let offset = self.0.wrapping_sub(base.0);
        if offset == offset as u32 as u64 { Some(offset as u32) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for (zone, order, pfn) in [(0, 0, 0), (3071, 10, (1 << 48) - 1024), (7, 3, 0x8_0000_0008)] {
            let order = Order::new(order).unwrap();
            let word = BlockWord::new(zone, order, Pfn(pfn));
            assert_eq!((word.zone(), word.order(), word.pfn()), (zone, order, Pfn(pfn)));
            assert_eq!(BlockWord::from_bits(word.bits()), word);
        }
    }

    #[test]
    fn an_offset_is_of_single_frames_of_one_zone_and_segment() {
        let single = |zone, pfn| BlockWord::new(zone, Order::ZERO, Pfn(pfn));
        let base = single(5, 0x1000);
        assert_eq!(single(5, 0x1000).offset_from(base), Some(0));
        assert_eq!(single(5, 0x1000 + (1 << 32) - 1).offset_from(base), Some(u32::MAX));
        assert_eq!(base.plus(u32::MAX), single(5, 0x1000 + (1 << 32) - 1));
        for other in [
            single(5, 0x1000 + (1 << 32)),
            single(5, 0xfff),
            single(4, 0x1000),
            single(6, 0x1000),
            single(4095, 0x1001),
            BlockWord::new(5, Order::new(1).unwrap(), Pfn(0x1000)),
        ] {
            assert_eq!(other.offset_from(base), None, "{other:?}");
        }
    }
}
