//! What the allocator keeps about frames.
//!
//! * `metadata`: bytes of all zones and their metadata, per frame that the machine has.
//! * `metadata_fixed`: bytes of a zone itself, without its ranges, list and arrays. They are in
//!   `metadata`, too.

use alloc::vec::Vec;

use super::Figure;
use crate::Kernel;

pub(super) fn figures(kernel: &Kernel) -> Vec<Figure> {
    let zones = kernel.memory.zones();
    let all = kernel.memory.zone_metadata().map(|(_, bytes)| bytes.len()).sum();
    let of_size: u64 = zones.iter().map(|zone| zone.metadata().len()).sum();
    let frames = zones.iter().map(|zone| zone.present()).sum();
    [
        Figure::once("metadata", "bytes_per_frame", all, frames),
        Figure::once("metadata_fixed", "bytes_per_zone", all - of_size, zones.len() as u64),
    ]
    .into()
}
