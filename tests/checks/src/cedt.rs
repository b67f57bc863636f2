//! The CEDT's decoder against a plain reading.

use nearmem::PhysRange;
use nearmem::firmware::cedt::{Body, Cedt};

use crate::Collected;
use crate::bytes::{check_contiguous, check_line, half, long, word};

/// Where the records begin (CXL 3.1, 9.18.1).
const RECORDS: usize = 36;

/// Takes a whole table, header included.
pub fn check(bytes: &[u8]) {
    let mut found = Collected::default();
    let cedt = Cedt::parse(bytes, &mut found);
    found.check(1, &[("CEDT", bytes.len())]);
    let Some(cedt) = cedt else { return };
    let table = &bytes[..bytes.len().min(cedt.header().length as usize)];
    let records = cedt.entries().map(|entry| {
        check_line(&entry);
        let rest = &table[entry.offset as usize..];
        let size = check_body(&entry.body, rest);
        (entry.offset, entry.record, size)
    });
    check_contiguous(records, RECORDS, table.len());
}

/// Holds a record against its bytes; gives its length, or `None` when there is no way on.
fn check_body(body: &Body<'_>, rest: &[u8]) -> Option<usize> {
    let cut = rest.len() < 4 || (half(rest, 2) >= 4 && rest.len() < usize::from(half(rest, 2)));
    if cut {
        assert_eq!(*body, Body::Truncated { present: rest.len() as u32 });
        return None;
    }
    let (kind, length) = (rest[0], half(rest, 2));
    let least = match kind {
        0 => 32,
        1 => 40,
        _ => 4,
    };
    if length < least {
        assert_eq!(*body, Body::BadLength { kind, length });
        return None;
    }
    match *body {
        Body::HostBridge(bridge) => {
            assert_eq!((kind, bridge.uid, bridge.version), (0, word(rest, 4), word(rest, 8)));
            assert_eq!((bridge.base, bridge.length), (long(rest, 16), long(rest, 24)));
        }
        Body::Window(window) => {
            assert_eq!((kind, window.base, window.length), (1, long(rest, 8), long(rest, 16)));
            let end = u128::from(window.base) + u128::from(window.length);
            let fits = window.length > 0 && end <= u128::from(u64::MAX);
            let range = fits.then(|| PhysRange::new(window.base, end as u64));
            assert_eq!(window.range(), range);
            let ways = match rest[24] {
                0 => Some(1),
                1 => Some(2),
                2 => Some(4),
                3 => Some(8),
                4 => Some(16),
                8 => Some(3),
                9 => Some(6),
                10 => Some(12),
                _ => None,
            };
            assert_eq!(window.ways, ways);
            let granularity = (word(rest, 28) <= 6).then(|| 256 << word(rest, 28));
            assert_eq!(window.granularity, granularity);
            assert_eq!((window.restrictions, window.qos_class), (half(rest, 32), half(rest, 34)));
            let there = (usize::from(length) - 36) / 4;
            let targets =
                (0..there.min(ways.map_or(0, usize::from))).map(|n| word(rest, 36 + 4 * n));
            assert!(window.targets().eq(targets));
        }
        Body::Other { kind: said, length: long } => {
            assert_eq!((said, long), (kind, length));
            assert!(kind > 1);
        }
        Body::BadLength { .. } | Body::Truncated { .. } => panic!("{body:?} is readable"),
    }
    Some(usize::from(length))
}
