//! The allocators, each with 2^20 frames.

mod array_stack;
mod bitmap;
mod buddy;
mod nearmem;

pub use self::nearmem::Nearmem;
pub use array_stack::ArrayStack;
pub use bitmap::Bitmap;
pub use buddy::Buddy;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FRAMES, Peer};

    /// Nearly all frames, and all of them again after they were freed.
    fn gives_all_twice<P: Peer>(peer: &P, order: u8, at_least: u64) {
        for _ in 0..2 {
            peer.on_cpu(0, |local| {
                let blocks: Vec<_> = std::iter::from_fn(|| peer.take(local, order)).collect();
                let frames = (blocks.len() as u64) << order;
                assert!((at_least..=FRAMES).contains(&frames), "{}: {frames}", P::NAME);
                blocks.into_iter().for_each(|block| peer.give(local, block));
            });
            peer.settle();
        }
    }

    #[test]
    fn all_have_the_same_frames() {
        gives_all_twice(&ArrayStack::new(), 0, FRAMES);
        gives_all_twice(&Buddy::new(), 9, FRAMES);
        gives_all_twice(&Bitmap::new(), 9, FRAMES);
        gives_all_twice(&Bitmap::new(), 0, FRAMES);
        // Watermarks and its own tables keep some back.
        gives_all_twice(&Nearmem::new(1), 9, FRAMES / 100 * 99);
        gives_all_twice(&Nearmem::new(1), 0, FRAMES / 100 * 99);
    }
}
