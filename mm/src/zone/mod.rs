//! Zones: the frames of one node within one range of addresses, and the structure that keeps
//! their free ones.
//!
//! In: the node map, metadata memory on the zone's own node, and the free frames that boot memory
//! leaves. Out: blocks of 2^0 to 2^10 frames.
//!
//! ```text
//! shared    Zone        what all CPUs see: a lock, counters, watermarks
//! areas     Areas       the contiguous ranges of the zone, and which frames were released to it
//! frames    FreeFrames  the free frames of one contiguous range: an interface (decision 6)
//! buddy     Buddy       ... and its implementation: a bitmap per order
//! raw       RawMemory   the caller's metadata memory, cut into slices: the only `unsafe` here
//! ```

mod areas;
mod buddy;
mod error;
mod frames;
mod kind;
mod raw;
mod shared;
mod span;

pub use buddy::Buddy;
pub use error::{FreeError, ReleaseError};
pub use frames::FreeFrames;
pub use kind::{ZoneId, ZoneKind};
pub use raw::RawMemory;
pub use shared::{Watermarks, Zone};
pub use span::{ZoneSpan, kernel_pages, zone_span};
