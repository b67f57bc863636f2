//! The HMAT from the outside: what must hold of any bytes.

mod access;
mod structures;
#[path = "../topology/tables.rs"]
#[allow(dead_code, reason = "the node map's own tests use the rest")]
mod tables;

use nearmem::finding::Finding;
use nearmem::firmware::hmat::{Body, Hmat};
use proptest::collection::vec;
use proptest::prelude::*;

use structures::{any_structures, table};

/// Walks a table, used or not, and asks everything that it answers.
fn look_at(bytes: &[u8]) {
    let mut findings = 0;
    let used = Hmat::parse(bytes, &mut |finding: Finding| {
        findings += 1;
        assert!(!finding.to_string().is_empty());
    });
    let Some(hmat) = Hmat::read(bytes, &mut |_| ()) else {
        return assert!(used.is_none());
    };
    let mut next = 40;
    for (number, structure) in hmat.structures().enumerate() {
        assert_eq!((structure.record as usize, structure.offset as usize), (number, next));
        assert!(!structure.line().to_string().is_empty());
        let damaged = matches!(structure.body, Body::BadLength { .. } | Body::BadCounts { .. });
        assert!(!(damaged && used.is_some()));
        if let Body::Locality(locality) = structure.body {
            let cells = locality.initiators().len() * locality.targets().len();
            assert_eq!(locality.values().count(), cells);
            assert!(2 * cells <= bytes.len());
        }
        let length = bytes.get(next + 4..next + 8);
        next += length.map_or(0, |four| u32::from_le_bytes(four.try_into().unwrap()) as usize);
    }
    // Each structure is a finding at most, but for figures, which may be too large and too long.
    assert!(findings <= 3 * hmat.structures().count() + 4, "{findings} findings");
}

proptest! {
    #[test]
    fn any_bytes_are_no_panic(bytes in vec(any::<u8>(), 0..300)) {
        look_at(&bytes);
    }

    #[test]
    fn any_body_behind_a_good_header_is_no_panic(
        revision in 0u8..4,
        body in vec(any::<u8>(), 0..300),
    ) {
        look_at(&table(revision, &[body]));
    }

    #[test]
    fn damaged_structures_are_no_panic(
        revision in 0u8..4,
        structures in any_structures(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = table(revision, &structures);
        look_at(&bytes);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        look_at(&bytes);
        look_at(&bytes[..cut.index(bytes.len())]);
    }
}
