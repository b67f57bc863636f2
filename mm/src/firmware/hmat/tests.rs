use super::by_hand::{attributes, cache, locality, structure, table};
use super::*;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// The structures of a table, used or not, and the names of what `parse` finds.
fn parse(bytes: &[u8]) -> (Option<Vec<Body<'_>>>, Vec<&'static str>) {
    let mut names = Vec::new();
    let hmat = Hmat::parse(bytes, &mut |finding: Finding| names.push(finding.kind.name()));
    (hmat.map(|hmat| hmat.structures().map(|structure| structure.body).collect()), names)
}

/// What `parse` finds, as lines.
fn lines(bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    Hmat::parse(bytes, &mut |finding: Finding| lines.push(finding.to_string()));
    lines
}

fn values(revision: u8, structure: Vec<u8>) -> Vec<Value> {
    let bytes = table(revision, &[structure]);
    let (bodies, _) = parse(&bytes);
    match bodies.as_deref() {
        Some([Body::Locality(locality)]) => locality.values().map(|(.., value)| value).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_is_read_from_its_own_bytes() {
    let mut figures = locality(4, 0x0102_0304_0506_0708, &[7, 0x1000_0001], &[9], &[11, 12]);
    figures[8] = 0x32;
    let bytes = table(2, &[attributes(5, Some(3)), cache(6, 1 << 33, 0x0040_1231), figures]);
    let (bodies, names) = parse(&bytes);
    let bodies = bodies.unwrap();
    assert_eq!(names, ["hmat-value-too-large"]);
    let (memory, initiator) = (Some(ProximityDomain(5)), Some(ProximityDomain(3)));
    assert_eq!(bodies[0], Body::Attributes(DomainAttributes { memory, initiator }));
    assert_eq!(
        bodies[1],
        Body::Cache(SideCache {
            memory: ProximityDomain(6),
            size: 1 << 33,
            levels: 1,
            level: 3,
            associativity: Associativity::Complex,
            write_policy: WritePolicy::WriteBack,
            line: 64,
        })
    );
    let Body::Locality(figures) = bodies[2] else { panic!() };
    assert_eq!((figures.hierarchy, figures.data_type, figures.behind), (2, 4, 0));
    assert_eq!(figures.base_unit, 0x0102_0304_0506_0708);
    let initiators: Vec<u32> = figures.initiators().map(|pxm| pxm.0).collect();
    assert_eq!(initiators, [7, 0x1000_0001]);
    assert_eq!(figures.targets().map(|pxm| pxm.0).collect::<Vec<u32>>(), [9]);
}

#[test]
fn structures_have_their_number_and_offset() {
    let bytes = table(2, &[attributes(0, None), structure(7, &[0; 3]), cache(0, 0, 0)]);
    let hmat = Hmat::parse(&bytes, &mut |_| ()).unwrap();
    let places: Vec<_> = hmat.structures().map(|s| (s.record, s.offset)).collect();
    assert_eq!(places, [(0, 40), (1, 80), (2, 91)]);
    assert_eq!(
        hmat.structures().map(|s| s.line().to_string()).collect::<Vec<_>>(),
        [
            "HMAT: Memory Domain:0 Initiator Domain:-",
            "HMAT: type 7, length 11",
            "HMAT: Cache: Domain:0 Size:0 Level:0 of 0 Line:0",
        ]
    );
    assert_eq!(
        lines(&bytes),
        ["HMAT, record 1 at 0x50: a structure of type 7 is not known: 11 bytes skipped"]
    );
}

#[test]
fn revision_1_counts_in_tenths_and_revision_2_in_picoseconds_and_megabytes() {
    use Value::{Known, TooLarge, Unknown, Unreachable};
    let figures = |data_type, unit, entry| locality(data_type, unit, &[0], &[0], &[entry]);
    for (revision, data_type, unit, entry, value) in [
        (1, 0, 1, 9, Unknown),
        (1, 0, 1, 10, Known(1)),
        (1, 1, 10, 1, Known(1)),
        (1, 2, 7, 3, Known(3)),
        (1, 3, 100, 5, Known(50)),
        (2, 0, 1, 1, Known(1)),
        (2, 1, 1000, 5, Known(5)),
        (2, 2, 1001, 1, Known(2)),
        (2, 3, 1, 9, Known(9)),
        (2, 4, 1024, 200, Known(204_800)),
        (2, 5, 0, 5, Unknown),
        (2, 5, 1, 0, Unknown),
        (2, 5, 1, 0xffff, Unreachable),
        (1, 5, 1, 0xffff, Unreachable),
        (2, 5, u64::MAX, 0xffff, Unreachable),
        (2, 3, u32::MAX as u64, 1, Known(u32::MAX)),
        (2, 3, 1 << 31, 2, TooLarge),
        (2, 0, u64::MAX, 2, TooLarge),
    ] {
        let read = values(revision, figures(data_type, unit, entry));
        assert_eq!(read, [value], "revision {revision}, type {data_type}: {unit} * {entry}");
    }
}

#[test]
fn figures_are_found_by_row_and_column() {
    let bytes = table(2, &[locality(3, 10, &[4, 5], &[6, 7, 8], &[1, 2, 3, 4, 5, 6])]);
    let (bodies, _) = parse(&bytes);
    let Some([Body::Locality(figures)]) = bodies.as_deref() else { panic!() };
    assert_eq!(figures.value(0, 2), Some(Value::Known(30)));
    assert_eq!(figures.value(1, 0), Some(Value::Known(40)));
    for (row, column) in [(2, 0), (0, 3), (usize::MAX, 0), (0, usize::MAX), (usize::MAX, 2)] {
        assert_eq!(figures.value(row, column), None, "{row} {column}");
    }
    let all: Vec<_> = figures.values().map(|(i, t, v)| (i.0, t.0, v.known())).collect();
    assert_eq!(all[0], (4, 6, Some(10)));
    assert_eq!((all[5], all.len()), ((5, 8, Some(60)), 6));
}

#[test]
fn in_revision_1_a_flag_says_whether_the_memory_domain_counts() {
    let mut unused = attributes(5, Some(3));
    unused[8] = 1;
    for (revision, memory) in [(1, None), (2, Some(ProximityDomain(5)))] {
        let bytes = table(revision, &[unused.clone()]);
        let (bodies, _) = parse(&bytes);
        let initiator = Some(ProximityDomain(3));
        assert_eq!(bodies, Some(vec![Body::Attributes(DomainAttributes { memory, initiator })]));
    }
}

#[test]
fn a_revision_without_known_units_is_refused() {
    for revision in [0, 3, 255] {
        let bytes = table(revision, &[cache(0, 1, 0)]);
        assert_eq!(parse(&bytes), (None, vec!["hmat-revision", "hmat-rejected"]), "{revision}");
    }
    assert_eq!(parse(&table(1, &[])), (Some(vec![]), vec![]));
}

#[test]
fn a_length_that_cannot_be_refuses_the_table() {
    let with_length = |mut structure: Vec<u8>, length: u32| {
        structure[4..8].copy_from_slice(&length.to_le_bytes());
        structure
    };
    for (damaged, kind, length) in [
        (with_length(attributes(0, None), 39), 0, 39),
        (structure(0, &[0; 33]), 0, 41),
        (with_length(attributes(0, None), 0), 0, 0),
        (with_length(locality(0, 1, &[], &[], &[]), 31), 1, 31),
        (with_length(cache(0, 0, 0), 31), 2, 31),
        (with_length(structure(9, &[0; 8]), 7), 9, 7),
        (with_length(structure(9, &[0; 8]), 0), 9, 0),
    ] {
        let bytes = table(2, &[cache(0, 1, 0), damaged, cache(0, 1, 0)]);
        let said = lines(&bytes);
        let first = std::format!(
            "HMAT, record 1 at 0x48: a structure of type {kind} cannot have length {length}: the \
             table is refused"
        );
        assert_eq!(said.first(), Some(&first));
        let last = "HMAT: the table is not used: nothing is known about latencies, bandwidths and \
                    caches";
        assert_eq!(said.last().map(String::as_str), Some(last));
        let shown = Hmat::read(&bytes, &mut |_| ()).unwrap();
        assert!(shown.structures().any(|s| s.body == Body::BadLength { kind, length }));
        if length < 8 {
            assert_eq!(shown.structures().count(), 2, "there is no way on");
        }
    }
}

#[test]
fn counts_that_do_not_fit_refuse_the_table() {
    let good = locality(0, 1, &[0, 1], &[0, 1], &[1, 2, 3, 4]);
    for (at, count) in [(12, 3u32), (16, 3), (12, u32::MAX), (16, u32::MAX), (12, 0x4000_0000)] {
        let mut damaged = good.clone();
        damaged[at..at + 4].copy_from_slice(&count.to_le_bytes());
        let bytes = table(2, &[damaged]);
        assert_eq!(parse(&bytes), (None, vec!["hmat-bad-counts", "hmat-rejected"]));
        let read = Hmat::read(&bytes, &mut |_| ()).unwrap().structures().next().unwrap();
        assert!(matches!(read.body, Body::BadCounts { length: 56, .. }), "{:?}", read.body);
        assert!(read.line().to_string().starts_with("HMAT: "));
    }
    let mut both = good;
    both[12..20].fill(0xff);
    assert_eq!(parse(&table(2, &[both])).1, ["hmat-bad-counts", "hmat-rejected"]);
}

#[test]
fn what_runs_past_the_end_is_not_read_and_what_stands_before_it_counts() {
    let whole = table(2, &[cache(0, 1, 0), locality(0, 1, &[0], &[0], &[1])]);
    for cut in 1..42 {
        let mut bytes = whole[..whole.len() - cut].to_vec();
        let length = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        bytes[9] = bytes[9].wrapping_sub(sum);
        let (bodies, names) = parse(&bytes);
        assert_eq!(names, ["hmat-truncated"], "{cut} bytes less");
        let present = 42 - cut as u32;
        assert_eq!(bodies.unwrap()[1..], [Body::Truncated { present }]);
    }
}

#[test]
fn reserved_sorts_of_figures_and_bytes_behind_them_are_said() {
    let mut reserved_level = locality(0, 1, &[0], &[0], &[1]);
    reserved_level[8] = 0x14;
    let mut longer = locality(0, 1, &[0], &[0], &[1]);
    longer.extend([0; 6]);
    longer[4] += 6;
    let all = [locality(6, 1, &[0], &[0], &[1]), reserved_level, longer];
    assert_eq!(
        parse(&table(2, &all)).1,
        ["hmat-reserved-data-type", "hmat-reserved-hierarchy", "hmat-longer-than-counts"]
    );
}

#[test]
fn of_figures_beyond_32_bits_the_first_is_named() {
    let bytes = table(2, &[locality(3, 1 << 31, &[8, 9], &[5, 6], &[1, 0, 2, 3])]);
    let said = "HMAT, record 0 at 0x28: the figure from domain 9 to 5, and perhaps more, is beyond \
                32 bits: not known";
    assert_eq!(lines(&bytes), [said]);
}

#[test]
fn less_than_the_fixed_part_is_no_table() {
    let mut bytes = table(2, &[]);
    bytes.truncate(39);
    bytes[4] = 39;
    assert_eq!(parse(&bytes).1, ["table-checksum", "table-too-short"]);
    assert_eq!(parse(&bytes[..20]).1, ["table-too-short"]);
    assert_eq!(parse(b"SRAT").1, ["table-too-short"]);
}
