//! The HMAT's decoder against a plain reading, and its rules in 128 bits.

use nearmem::firmware::hmat::{Body, DataType, Hmat, Locality, Value};

use crate::Collected;
use crate::bytes::{check_contiguous, check_line, half, long, word};

/// Where the structures begin (ACPI 6.5, table 5.145).
const STRUCTURES: usize = 40;

/// Takes a whole table, header included.
pub fn check(bytes: &[u8]) {
    let mut found = Collected::default();
    let usable = Hmat::parse(bytes, &mut found).is_some();
    let Some(hmat) = Hmat::read(bytes, &mut |_| ()) else {
        assert!(!usable && !found.findings.is_empty());
        return;
    };
    let (revision, count) = (hmat.header().revision, hmat.structures().count());
    found.check(3 * count + 3, &[("HMAT", bytes.len())]);
    assert_eq!(usable, !found.has("hmat-rejected"));
    let table = &bytes[..bytes.len().min(hmat.header().length as usize)];
    let mut sound = matches!(revision, 1 | 2);
    let structures = hmat.structures().map(|structure| {
        check_line(&structure.line());
        let rest = &table[structure.offset as usize..];
        sound &= !matches!(structure.body, Body::BadLength { .. } | Body::BadCounts { .. });
        (structure.offset, structure.record, check_body(&structure.body, rest, revision))
    });
    check_contiguous(structures, STRUCTURES, table.len());
    assert_eq!(usable, sound);
}

/// Holds a structure against its bytes; gives its length, or `None` when there is no way on.
fn check_body(body: &Body<'_>, rest: &[u8], revision: u8) -> Option<usize> {
    if let Body::Truncated { present } = *body {
        let whole = rest.len() > 8 && word(rest, 4) >= 8 && word(rest, 4) as usize <= rest.len();
        assert!(present as usize == rest.len() && !whole);
        return None;
    }
    let (kind, length) = (half(rest, 0), word(rest, 4));
    let size = (length >= 8).then_some(length as usize);
    match *body {
        Body::Attributes(attributes) => {
            assert_eq!((kind, length), (0, 40));
            let flags = half(rest, 8);
            let initiator = (flags & 1 == 1).then(|| word(rest, 12));
            let memory = (revision > 1 || flags & 2 == 2).then(|| word(rest, 16));
            assert_eq!(attributes.initiator.map(|pxm| pxm.0), initiator);
            assert_eq!(attributes.memory.map(|pxm| pxm.0), memory);
        }
        Body::Locality(locality) => {
            assert_eq!(kind, 1);
            check_locality(&locality, &rest[..length as usize], revision);
        }
        Body::Cache(cache) => {
            assert!(kind == 2 && length >= 32);
            assert_eq!((cache.memory.0, cache.size), (word(rest, 8), long(rest, 16)));
            let attributes = word(rest, 24);
            assert_eq!(u32::from(cache.levels), attributes % 16);
            assert_eq!(u32::from(cache.level), attributes / 16 % 16);
            assert_eq!(u32::from(cache.line), attributes / 65536);
        }
        Body::Other { kind: said, length: long } => assert_eq!((said, long), (kind, length)),
        Body::BadLength { kind: said, length: long } => {
            assert_eq!((said, long), (kind, length));
            let possible = match kind {
                0 => length == 40,
                1 | 2 => length >= 32,
                _ => length >= 8,
            };
            assert!(!possible, "type {kind} can have length {length}");
        }
        Body::BadCounts { initiators, targets, .. } => {
            let (rows, columns) = (u128::from(initiators), u128::from(targets));
            let needed = 32 + 4 * (rows + columns) + 2 * rows * columns;
            assert!(needed > u128::from(length), "{rows} and {columns} fit in {length}");
        }
        Body::Truncated { .. } => unreachable!(),
    }
    // One that runs past the end is the last one.
    size.filter(|&size| size <= rest.len())
}

fn check_locality(locality: &Locality<'_>, bytes: &[u8], revision: u8) {
    let (rows, columns) = (word(bytes, 12) as usize, word(bytes, 16) as usize);
    let base = long(bytes, 24);
    assert_eq!((locality.base_unit, locality.data_type), (base, bytes[9]));
    assert_eq!(locality.hierarchy, bytes[8] % 16);
    let (targets, entries) = (32 + 4 * rows, 32 + 4 * (rows + columns));
    let pxm = |at: usize, number: usize| word(bytes, at + 4 * number);
    assert!(locality.initiators().map(|pxm| pxm.0).eq((0..rows).map(|row| pxm(32, row))));
    assert!(locality.targets().map(|pxm| pxm.0).eq((0..columns).map(|n| pxm(targets, n))));
    assert_eq!(entries + 2 * rows * columns + locality.behind as usize, bytes.len());
    let latency = DataType::new(bytes[9]).is_some_and(DataType::is_latency);
    for (number, (initiator, target, value)) in locality.values().enumerate() {
        let (row, column) = (number / columns, number % columns);
        assert_eq!((initiator.0, target.0), (pxm(32, row), pxm(targets, column)));
        assert_eq!(locality.value(row, column), Some(value));
        let entry = half(bytes, entries + 2 * number);
        assert_eq!(value, reading(entry, base, revision, latency), "{entry} of {base}");
    }
    assert_eq!(locality.values().count(), rows * columns);
    for (row, column) in [(rows, 0), (0, columns), (usize::MAX, 0), (0, usize::MAX)] {
        assert_eq!(locality.value(row, column), None);
    }
}

fn reading(entry: u16, base: u64, revision: u8, latency: bool) -> Value {
    let product = u128::from(entry) * u128::from(base);
    let divisor = match revision {
        1 => 10,
        _ if latency => 1000,
        _ => 1,
    };
    match entry {
        0 => Value::Unknown,
        0xffff => Value::Unreachable,
        _ if product > u128::from(u32::MAX) => Value::TooLarge,
        _ if product == 0 || (revision == 1 && product < 10) => Value::Unknown,
        _ => Value::Known(product.div_ceil(divisor) as u32),
    }
}
