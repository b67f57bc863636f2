//! Zones: the frames of one node within one range of addresses, and the structure that keeps
//! their free ones.
//!
//! In: the node map, metadata memory on the zone's own node, and the free frames that boot memory
//! leaves. Out: blocks of 2^0 to 2^10 frames.
//!
//! ```text
//! shared    Zone         what all CPUs see: the free frames, watermarks, protection
//! frames    FreeFrames   the free frames of a zone: an interface (decision 6)
//! free_map  FreeMap      ... as bits and counters, without a lock: what zones use
//! buddy     LockedBuddy  ... as a bitmap for each order, behind a lock: to compare with
//! cursor    Cursor       where a CPU took last
//! layout    Layout       what every zone's metadata begins with
//! managed   Managed      which frames were released to the zone
//! rows      RowBatch     single frames on their way between a zone and a pageset
//! raw       RawMemory    the caller's metadata memory, cut into slices: the only `unsafe` here
//! ```

mod buddy;
mod cursor;
mod error;
mod frames;
mod free_map;
mod kind;
mod layout;
mod managed;
mod raw;
pub(crate) mod rows;
mod shared;
mod span;

pub use buddy::LockedBuddy;
pub use cursor::Cursor;
pub use error::{FreeError, ReleaseError, ShrinkError};
pub use frames::FreeFrames;
#[cfg(loom)]
pub use free_map::Block;
pub use free_map::FreeMap;
pub use kind::{ZoneId, ZoneKind};
pub use raw::RawMemory;
pub use rows::{Row, RowBatch};
pub use shared::{Watermarks, Zone};
pub(crate) use span::populated_kinds;
pub use span::{ZoneSpan, kernel_pages, zone_span};
