//! Small blocks that a CPU keeps: of each of some orders the one that was freed when none was kept.
#![forbid(unsafe_code)]

use crate::sync::LocalWord;
use crate::units::{Order, Pfn};

use super::BlockWord;

/// Orders above 0 of which a block is kept: 1 to 4.
const ORDERS: usize = 4;
/// The word for none: every block of an order above 0 has a word that is not 0.
const NONE: u64 = 0;

/// One block of each of the orders 1 to 4, or none. So a block that is allocated and freed again
/// and again, as are kernel stacks and pages of a slab, costs no search for an aligned run. Its own
/// CPU alone changes it, under its token.
#[derive(Debug)]
pub struct KeptBlocks {
    blocks: [LocalWord; ORDERS],
}

impl KeptBlocks {
    /// Frames that are kept at most.
    pub const BOUND: u32 = (2 << ORDERS) - 2;

    /// Nothing kept.
    pub fn new() -> KeptBlocks {
        KeptBlocks { blocks: core::array::from_fn(|_| LocalWord::new(NONE)) }
    }

    /// Takes the block of this order.
    #[inline]
    pub(crate) fn take(&self, order: Order) -> Option<BlockWord> {
        let place = self.blocks.get(order.index().wrapping_sub(1))?;
        let word = place.get();
        if word == NONE {
            return None;
        }
        place.set(NONE);
        Some(BlockWord::from_bits(word))
    }

    /// Keeps a block, if it is of one of the orders and none is kept; false changes nothing.
    #[inline]
    pub(crate) fn keep(&self, block: BlockWord) -> bool {
        let place = self.blocks.get(block.order().index().wrapping_sub(1));
        let Some(place) = place.filter(|place| place.get() == NONE) else { return false };
        place.set(block.bits());
        true
    }

    /// Takes a block of any order.
    pub(crate) fn take_any(&self) -> Option<BlockWord> {
        Order::all().find_map(|order| self.take(order))
    }

    /// How many frames are kept. On another CPU, some recent number.
    pub fn frames(&self) -> u32 {
        self.blocks().map(|block| block.order().pages() as u32).sum()
    }

    /// Whether this frame is in a block that is kept. On another CPU, a guess.
    pub fn holds(&self, frame: Pfn) -> bool {
        self.blocks().any(|block| frame.0.wrapping_sub(block.pfn().0) < block.order().pages())
    }

    fn blocks(&self) -> impl Iterator<Item = BlockWord> + '_ {
        let words = self.blocks.iter().map(LocalWord::get).filter(|&word| word != NONE);
        words.map(BlockWord::from_bits)
    }
}

impl Default for KeptBlocks {
    fn default() -> KeptBlocks {
        KeptBlocks::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(order: u8, pfn: u64) -> BlockWord {
        BlockWord::new(0, Order::new(order).unwrap(), Pfn(pfn))
    }

    #[test]
    fn one_block_of_each_small_order_is_kept() {
        let kept = KeptBlocks::new();
        for order in 0..=10 {
            assert_eq!(kept.keep(block(order, 0)), (1..=4).contains(&order), "order {order}");
            assert!(!kept.keep(block(order, 1024)), "a second one of order {order}");
        }
        assert_eq!(kept.frames(), KeptBlocks::BOUND);
        for order in Order::all() {
            let expected = (1..=4).contains(&order.get()).then(|| block(order.get(), 0));
            assert_eq!(kept.take(order), expected);
            assert_eq!(kept.take(order), None);
        }
        assert_eq!((kept.frames(), kept.take_any()), (0, None));
    }

    #[test]
    fn it_knows_its_frames() {
        let kept = KeptBlocks::new();
        assert!(kept.keep(block(3, 64)) && kept.keep(block(1, 8)));
        for (frame, held) in [(63, false), (64, true), (71, true), (72, false), (9, true)] {
            assert_eq!(kept.holds(Pfn(frame)), held, "frame {frame}");
        }
        assert_eq!(kept.frames(), 10);
        assert_eq!([kept.take_any(), kept.take_any()], [Some(block(1, 8)), Some(block(3, 64))]);
    }
}
