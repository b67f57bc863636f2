//! Tables made by hand, for tests.

use std::vec;
use std::vec::Vec;

use super::{Header, STRUCTURES};
use crate::firmware::by_hand;

/// A table of these structures, its checksum right.
pub fn table(revision: u8, structures: &[Vec<u8>]) -> Vec<u8> {
    by_hand::table(
        b"HMAT",
        revision,
        &[&[0; STRUCTURES - Header::LENGTH], &structures.concat()[..]].concat(),
    )
}

/// A structure of any type: its length is that of `body` and the 8 bytes before it.
pub fn structure(kind: u16, body: &[u8]) -> Vec<u8> {
    let head = [&kind.to_le_bytes()[..], &[0, 0], &(8 + body.len() as u32).to_le_bytes()];
    [&head.concat(), body].concat()
}

/// Attributes of a memory domain, with an initiator or not.
pub fn attributes(memory: u32, initiator: Option<u32>) -> Vec<u8> {
    let flags = 2 | u16::from(initiator.is_some());
    let initiator = initiator.unwrap_or(u32::MAX);
    let head = [flags.to_le_bytes(), [0; 2]].concat();
    let body = [&head[..], &initiator.to_le_bytes(), &memory.to_le_bytes(), &[0; 20]];
    structure(0, &body.concat())
}

/// Figures of a data type for the memory itself: a row per initiator.
pub fn locality(
    data_type: u8,
    base_unit: u64,
    initiators: &[u32],
    targets: &[u32],
    entries: &[u16],
) -> Vec<u8> {
    let counts = [initiators.len() as u32, targets.len() as u32, 0];
    let mut body = vec![0, data_type, 0, 0];
    body.extend(counts.into_iter().flat_map(u32::to_le_bytes));
    body.extend(base_unit.to_le_bytes());
    body.extend(initiators.iter().chain(targets).flat_map(|pxm| pxm.to_le_bytes()));
    body.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
    structure(1, &body)
}

/// A memory side cache.
pub fn cache(memory: u32, size: u64, attributes: u32) -> Vec<u8> {
    let body = [&memory.to_le_bytes()[..], &[0; 4], &size.to_le_bytes(), &attributes.to_le_bytes()];
    structure(2, &[&body.concat()[..], &[0; 4]].concat())
}
