//! Structures of an HMAT, sound ones and others.

use proptest::collection::vec;
use proptest::prelude::*;

/// A table with a header that is right.
pub fn table(revision: u8, structures: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    bytes[..4].copy_from_slice(b"HMAT");
    bytes[8] = revision;
    bytes.extend(structures.concat());
    let length = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[9] = sum.wrapping_neg();
    bytes
}

fn structure(kind: u16, body: &[u8]) -> Vec<u8> {
    let head = [&kind.to_le_bytes()[..], &[0, 0], &(8 + body.len() as u32).to_le_bytes()];
    [&head.concat(), body].concat()
}

/// Type 0.
pub fn attributes(memory: u32, initiator: Option<u32>) -> Vec<u8> {
    let flags = 2 | u32::from(initiator.is_some());
    let words = [flags, initiator.unwrap_or(77), memory, 0, 0, 0, 0, 0];
    structure(0, &words.map(u32::to_le_bytes).concat())
}

/// Type 1. Fewer entries than there are pairs make a damaged one.
pub fn locality(
    hierarchy: u8,
    data_type: u8,
    base_unit: u64,
    initiators: &[u32],
    targets: &[u32],
    entries: &[u16],
) -> Vec<u8> {
    let mut body = vec![hierarchy, data_type, 0, 0];
    let counts = [initiators.len() as u32, targets.len() as u32, 0];
    body.extend(counts.map(u32::to_le_bytes).concat());
    body.extend(base_unit.to_le_bytes());
    body.extend(initiators.iter().chain(targets).flat_map(|pxm| pxm.to_le_bytes()));
    body.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
    structure(1, &body)
}

/// Type 2.
pub fn cache(memory: u32, size: u64, attributes: u32) -> Vec<u8> {
    let size = [size as u32, (size >> 32) as u32];
    let words = [memory, 0, size[0], size[1], attributes, 0];
    structure(2, &words.map(u32::to_le_bytes).concat())
}

/// Structures of every sort about domains 0 to 6; most are sound.
pub fn any_structures() -> impl Strategy<Value = Vec<Vec<u8>>> {
    // Few different figures, so that there are ties.
    let all = || Just(vec![6, 5, 4, 3, 2, 0]);
    let domains = || prop_oneof![1 => vec(0u32..7, 0..6), 3 => all()];
    let entry = prop_oneof![9 => 0u16..4, 1 => Just(0xffff), 1 => any::<u16>()];
    let unit = prop_oneof![8 => 10u64..3000, 1 => any::<u64>()];
    let hierarchy = prop_oneof![8 => Just(0u8), 1 => 0u8..16];
    let shape = (hierarchy, 0u8..7, unit, prop::bool::weighted(0.05));
    let figures = (shape, domains(), domains(), vec(entry, 36)).prop_map(
        |((hierarchy, data_type, unit, short), initiators, targets, mut entries)| {
            let pairs = initiators.len() * targets.len();
            entries.truncate(if short { pairs / 2 } else { pairs });
            locality(hierarchy, data_type, unit, &initiators, &targets, &entries)
        },
    );
    let structure = prop_oneof![
        2 => (0u32..7, proptest::option::of(0u32..7)).prop_map(|(m, i)| attributes(m, i)),
        6 => figures,
        2 => (0u32..7, any::<u64>(), any::<u32>()).prop_map(|(m, s, a)| cache(m, s, a)),
        1 => (0u16..5, vec(any::<u8>(), 0..50)).prop_map(|(kind, body)| structure(kind, &body)),
    ];
    vec(structure, 0..8)
}
