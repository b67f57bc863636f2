use super::*;
use crate::firmware::by_hand;
use std::vec;
use std::vec::Vec;

/// A SLIT that QEMU 7.2 made: two domains, 25 apart.
const QEMU: [u8; 48] = *b"SLIT\x30\0\0\0\x01\xe0BOCHS BXPC    \x01\0\0\0BXPC\x01\0\0\0\
    \x02\0\0\0\0\0\0\0\x0a\x19\x19\x0a";

fn table(count: u64, matrix: &[u8]) -> Vec<u8> {
    by_hand::table(b"SLIT", 0, &[&count.to_le_bytes()[..], matrix].concat())
}

fn parse(bytes: &[u8]) -> (Option<Slit<'_>>, Vec<&'static str>) {
    let mut names = Vec::new();
    let slit = Slit::parse(bytes, &mut |finding: Finding| names.push(finding.kind.name()));
    (slit, names)
}

#[test]
fn real_bytes_give_distances_by_domain() {
    let (slit, names) = parse(&QEMU);
    let slit = slit.unwrap();
    let far = |from, to| slit.distance(ProximityDomain(from), ProximityDomain(to));
    assert_eq!((names, slit.count()), (vec![], 2));
    assert_eq!((far(0, 0), far(0, 1), far(1, 0)), (Some(10), Some(25), Some(25)));
    assert_eq!((far(0, 2), far(2, 0), far(u32::MAX, 1)), (None, None, None));
}

#[test]
fn asymmetric_and_unreachable_are_valid() {
    let bytes = table(2, &[10, 255, 11, 10]);
    let (slit, names) = parse(&bytes);
    assert_eq!((slit.unwrap().asymmetric(), names), (Some((0, 1, 255, 11)), vec![]));
}

#[test]
fn a_bad_distance_has_the_table_refused() {
    for (matrix, expected) in [
        ([10, 17, 17, 0], vec!["slit-bad-diagonal", "slit-rejected"]),
        ([10, 10, 17, 10], vec!["slit-bad-remote", "slit-rejected"]),
        ([0, 0, 0, 9], vec!["slit-bad-diagonal", "slit-bad-remote", "slit-rejected"]),
        ([10, 10, 10, 10], vec!["slit-bad-remote", "slit-all-equal", "slit-rejected"]),
    ] {
        let bytes = table(2, &matrix);
        let (slit, names) = parse(&bytes);
        assert!(slit.is_none());
        assert_eq!(names, expected);
    }
}

#[test]
fn a_matrix_that_is_not_there_is_not_read() {
    for count in [3, 1 << 16, 1 << 32, u64::MAX] {
        let bytes = table(count, &[10, 17, 17, 10, 17]);
        let (slit, names) = parse(&bytes);
        assert!(slit.is_none());
        assert_eq!(names, ["slit-truncated"], "{count}");
    }
    assert_eq!(parse(&table(0, &[])[..40]).1, ["table-length", "slit-truncated"]);
}

#[test]
fn bytes_behind_the_matrix_are_padding() {
    let bytes = table(1, &[10, 0, 0]);
    let (slit, names) = parse(&bytes);
    assert_eq!((slit.unwrap().count(), names), (1, vec!["slit-longer-than-count"]));
    let bytes = table(0, &[]);
    let (slit, names) = parse(&bytes);
    assert_eq!((slit.unwrap().cells().count(), names), (0, vec![]));
}
