//! Pagesets: each CPU's cache of single frames of one zone, on the CPU's node.
//!
//! What flows in: single frames, freed on this CPU or taken from the zone a batch at a time. What
//! flows out: the frame that came last, or the oldest ones, back to their zone.
//!
//! A [`Pageset`] fills one page: a header and up to [`CAPACITY`] offsets of 32 bits. Only its own
//! CPU touches it, with interrupts off, so nothing in it is locked; its words are single-writer
//! words (`sync::LocalWord32`) because reports of other CPUs read them. It never touches the
//! frames that it holds.
//!
//! [`PagesetSizes`] has the formulas of batch and high (reference: buddy-and-pagesets, section 3).
#![forbid(unsafe_code)]

mod sizes;
mod stack;

pub use sizes::{BATCH_MAX, PagesetSizes};
pub use stack::{CAPACITY, OtherSegment, Pageset};
