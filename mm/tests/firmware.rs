//! The decoders on any bytes: no panic, no record outside the table, an end, and a line for each.

use nearmem::ApicId;
use nearmem::firmware::cedt::Cedt;
use nearmem::firmware::madt::{IdLinks, Madt, present};
use nearmem::firmware::srat::Srat;
use proptest::collection::vec;
use proptest::prelude::*;

/// Any bytes as a table with a header that is right but for, now and then, its length.
fn with_header(signature: &[u8; 4], revision: u8, length: Option<u32>, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 36];
    bytes[..4].copy_from_slice(signature);
    bytes[8] = revision;
    bytes.extend(body);
    let length = length.unwrap_or(bytes.len() as u32);
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// A body with many records: heads that are likely, and anything.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let record = (0u8..12, prop_oneof![Just(8u8), Just(16), Just(32), Just(40), any::<u8>()])
        .prop_flat_map(|(kind, length)| {
            (Just([kind, length]), vec(any::<u8>(), usize::from(length.saturating_sub(2))))
        })
        .prop_map(|(head, rest)| [&head[..], &rest].concat());
    prop_oneof![
        vec(any::<u8>(), 0..300),
        (vec(any::<u8>(), 12), vec(record, 0..12)).prop_map(|(fixed, records)| [
            fixed,
            records.concat()
        ]
        .concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 4096 }))]

    #[test]
    fn any_bytes_give_records_within_the_table_and_end(
        body in body(),
        revision in 0u8..7,
        length in proptest::option::weighted(0.1, 0u32..400),
    ) {
        let table = |signature| with_header(signature, revision, length, &body);
        let (mut places, mut text) = (Vec::new(), String::new());
        let bytes = table(b"SRAT");
        for entry in Srat::parse(&bytes, &mut |_| ()).iter().flat_map(Srat::entries) {
            places.push((entry.record, entry.offset));
            text.push_str(&entry.line(None).to_string());
        }
        let bytes = table(b"APIC");
        let madt = Madt::parse(&bytes, &mut |_| ());
        for entry in madt.iter().flat_map(Madt::entries) {
            places.push((entry.record, entry.offset));
            text.push_str(&entry.to_string());
        }
        let bytes = table(b"CEDT");
        for entry in Cedt::parse(&bytes, &mut |_| ()).iter().flat_map(Cedt::entries) {
            places.push((entry.record, entry.offset));
            text.push_str(&entry.to_string());
        }
        for pair in places.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            prop_assert!(b.0 == 0 || (b.0 == a.0 + 1 && b.1 > a.1), "{a:?} {b:?}");
        }
        prop_assert!(places.iter().all(|&(_, offset)| (offset as usize) < bytes.len()));
        prop_assert!(!text.contains('\n'));
    }

    #[test]
    fn the_list_of_cpus_is_that_of_a_plain_search(
        ids in vec(prop_oneof![0u32..24, any::<u32>()], 0..60),
        boot in proptest::option::of(0u32..24),
        room in 0usize..70,
    ) {
        let record = |id: &u32| {
            let words = [id.to_le_bytes(), 1u32.to_le_bytes(), [0; 4]];
            [&[9, 16, 0, 0][..], words.as_flattened()].concat()
        };
        let records: Vec<_> = ids.iter().map(record).collect();
        let bytes = with_header(b"APIC", 3, None, &[vec![0; 8], records.concat()].concat());
        let madt = Madt::parse(&bytes, &mut |_| ());
        let mut slots = vec![ApicId(0); room];
        let mut links = vec![IdLinks::NONE; room];
        let boot_id = boot.map(ApicId);
        let counts = present(madt.as_ref(), boot_id, &mut slots, &mut links, &mut |_| ());

        let mut plain: Vec<u32> = boot.into_iter().collect();
        for &id in ids.iter().filter(|&&id| id != u32::MAX) {
            if !plain.contains(&id) {
                plain.push(id);
            }
        }
        plain.truncate(room);
        let listed: Vec<u32> = slots[..counts.present].iter().map(|id| id.0).collect();
        prop_assert_eq!(listed, plain);
    }
}
