//! Pagesets: each CPU's cache of single frames of one zone, and of a few small blocks, on the CPU's
//! node.
//!
//! What flows in: single frames, freed on this CPU or taken from the zone a row at a time. What
//! flows out: the frame that came last, or the oldest ones, back to their zone. Beside them one
//! block of each of the orders 1 to 4.
//!
//! A [`Pageset`] fills one page: a header and up to [`CAPACITY`] offsets of 32 bits. Only its own
//! CPU touches it, with interrupts off, so nothing in it is locked; its words are single-writer
//! words (`sync::LocalWord32`) because reports of other CPUs read them. It never touches the
//! frames that it holds, nor the zone: of that it only knows the address.
//!
//! ```text
//! stack       Pageset       the frames, last in first out
//! kept        KeptBlocks    the blocks of orders 1 to 4
//! block_word  BlockWord     a block as one word: what a stack takes and gives
//! cell        PagesetCell   how a CPU reaches a pageset; the boot pageset is in it at first
//! sizes       PagesetSizes  batch and high (reference: buddy-and-pagesets, section 3)
//! ```

mod block_word;
mod cell;
mod kept;
mod sizes;
mod stack;

pub use block_word::BlockWord;
pub use cell::PagesetCell;
pub use kept::KeptBlocks;
pub use sizes::{BATCH_MAX, PagesetSizes, ROW};
pub(crate) use stack::Refused;
pub use stack::{CAPACITY, Pageset};
