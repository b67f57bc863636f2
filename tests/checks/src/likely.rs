//! Tables that a decoder gets far with: a right header, records with heads that their types can
//! have, and random bytes in them. Where there is no corpus they are what mutation begins with.

use crate::random::Random;
use crate::shape::table;

/// A likely table for a target; `None` for a target that takes something else.
pub fn table_for(target: &str, random: &mut Random) -> Option<Vec<u8>> {
    let revision = random.below(7) as u8;
    let count = random.below(24);
    let mut records = |make: fn(&mut Random) -> Vec<u8>| -> Vec<u8> {
        (0..count).flat_map(|_| make(random)).collect()
    };
    Some(match target {
        "srat" => table(b"SRAT", revision, &[&[0; 12][..], &records(srat)].concat()),
        "madt" => table(b"APIC", revision, &[&[0; 8][..], &records(madt)].concat()),
        "cedt" => table(b"CEDT", 1, &records(cedt)),
        "hmat" => table(b"HMAT", 1 + revision % 2, &[&[0; 4][..], &records(hmat)].concat()),
        "slit" => slit(random),
        _ => return None,
    })
}

fn pick(random: &mut Random, heads: &[(u8, u8)]) -> (u8, u8) {
    heads[random.below(heads.len())]
}

fn srat(random: &mut Random) -> Vec<u8> {
    let heads = [(0, 16), (1, 40), (2, 24), (3, 18), (4, 12), (5, 32), (6, 32), (7, 20), (9, 5)];
    let (kind, length) = pick(random, &heads);
    let mut record = random.bytes(length.into());
    record[..2].copy_from_slice(&[kind, length]);
    record
}

fn madt(random: &mut Random) -> Vec<u8> {
    let (kind, length) = pick(random, &[(0, 8), (1, 12), (2, 10), (5, 12), (9, 16), (4, 6)]);
    let mut record = random.bytes(length.into());
    record[..2].copy_from_slice(&[kind, length]);
    record
}

fn cedt(random: &mut Random) -> Vec<u8> {
    let (kind, length) = pick(random, &[(0, 32), (1, 40), (1, 44), (1, 68), (2, 16), (3, 24)]);
    let mut record = random.bytes(length.into());
    record[..4].copy_from_slice(&[kind, 0, length, 0]);
    if kind == 1 {
        // Few ways, and addresses that do not wrap.
        record[24] %= 5;
        (record[15], record[23]) = (0, 0);
    }
    record
}

fn hmat(random: &mut Random) -> Vec<u8> {
    let (rows, columns) = (random.below(4), random.below(4));
    let kind = random.below(4) as u8;
    let length = match kind {
        0 => 40,
        1 => 32 + 4 * (rows + columns) + 2 * rows * columns,
        _ => 32,
    };
    let mut structure = random.bytes(length);
    structure[..8].copy_from_slice(&[kind, 0, 0, 0, length as u8, 0, 0, 0]);
    if kind == 1 {
        structure[8] %= 5;
        structure[9] %= 7;
        structure[12..16].copy_from_slice(&(rows as u32).to_le_bytes());
        structure[16..20].copy_from_slice(&(columns as u32).to_le_bytes());
        // A base unit that gives figures of 32 bits, most of the time.
        structure[26..32].fill(0);
    }
    structure
}

fn slit(random: &mut Random) -> Vec<u8> {
    let count = random.below(9);
    let mut body = (count as u64).to_le_bytes().to_vec();
    let remote = |byte: u8| byte.max(11);
    body.extend(random.bytes(count * count).into_iter().map(remote));
    (0..count).for_each(|row| body[8 + row * (count + 1)] = 10);
    table(b"SLIT", 1, &body)
}
