//! The work: what LLFree's paper measures with (Wrenger, Rommel, Halbuer, Dietrich, Lohmann, USENIX
//! ATC 2023), on any [`Peer`].
//!
//! Each function does one round with a number of threads and gives the time of the slowest thread,
//! of the part that counts.

mod bulk;
mod control;
mod exchange;
mod fill;
mod fragmentation;
mod latency;
mod pair;
mod random_free;

pub use bulk::{bulk, bulk_blocks};
pub use control::{CONTROL_STEPS, control};
pub use exchange::{EXCHANGED, exchange};
pub use fill::{PAIRS_WHEN_FULL, fill, fill_frames};
pub use fragmentation::{Ageing, fragmentation};
pub use latency::{Quantiles, latency};
pub use pair::{pair, pairs};
pub use random_free::random_free;

use crate::Peer;

/// A block, or a panic that says whose it was not.
#[inline]
fn take<P: Peer>(peer: &P, local: &P::Local<'_>, order: u8) -> P::Block {
    match peer.take(local, order) {
        Some(block) => block,
        None => panic!("{} has no block of order {order} left", P::NAME),
    }
}
