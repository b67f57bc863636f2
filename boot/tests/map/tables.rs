//! What HMAT, MADT and CEDT add to a map, in JSON and in the report.

use std::path::PathBuf;

use nearmem_boot::scratch::Scratch;
use nearmem_boot::workspace::root;
use serde_json::{Value, json};

use super::run::*;

/// A table with a header and a right checksum.
fn table(signature: &[u8; 4], revision: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = signature.to_vec();
    bytes.extend((36 + body.len() as u32).to_le_bytes());
    bytes.extend([revision, 0]);
    bytes.extend(b"MAKER MACHINE \x01\0\0\0TOOL\x01\0\0\0");
    bytes.extend(body);
    bytes[9] = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_sub(byte));
    bytes
}

/// A case with two nodes: APIC 0 and 1 on node 0, 2 and 3 on node 1; RAM up to 8 GiB.
fn case() -> PathBuf {
    root().join("tests/data/corpus/v31-nodes-interleaved-2-4-6-8.json")
}

/// APIC 0, 1, 2 and 7 are there, 9 may come, 10 is not there; the SRAT's 3 is not listed.
fn madt() -> Vec<u8> {
    let mut body = vec![0, 0, 0xe0, 0xfe, 1, 0, 0, 0];
    for (apic, flags) in [(0, 1), (1, 1), (2, 1), (7, 1), (9, 2), (10, 0)] {
        body.extend([0, 8, apic, apic, flags, 0, 0, 0]);
    }
    body.extend([1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0]);
    table(b"APIC", 5, &body)
}

/// A host bridge, and a window of 4 GiB at 16 GiB that the SRAT does not have.
fn cedt() -> Vec<u8> {
    let mut body = vec![0, 0, 32, 0];
    [7u32, 1, 0].iter().for_each(|word| body.extend(word.to_le_bytes()));
    [0xfd00_0000u64, 0x1_0000].iter().for_each(|word| body.extend(word.to_le_bytes()));
    body.extend([1, 0, 40, 0, 0, 0, 0, 0]);
    [16u64 << 30, 4 << 30].iter().for_each(|word| body.extend(word.to_le_bytes()));
    body.extend([0; 8]);
    body.extend([0x06, 0, 5, 0]);
    body.extend(7u32.to_le_bytes());
    table(b"CEDT", 1, &body)
}

/// Latencies of 100 ns to own and 180 ns to the other node's memory, twice the bandwidth to own,
/// and a cache of 1 GiB in front of node 1's.
fn hmat() -> Vec<u8> {
    let mut body = vec![0; 4];
    let figures: [(u8, u64, [u16; 4]); 2] =
        [(0, 1000, [100, 180, 180, 100]), (3, 10, [20480, 10240, 10240, 20480])];
    for (data_type, base, entries) in figures {
        body.extend([1, 0, 0, 0, 56, 0, 0, 0, 0, data_type, 0, 0]);
        [2u32, 2, 0].iter().for_each(|word| body.extend(word.to_le_bytes()));
        body.extend(base.to_le_bytes());
        [0u32, 1, 0, 1].iter().for_each(|word| body.extend(word.to_le_bytes()));
        entries.iter().for_each(|entry| body.extend(entry.to_le_bytes()));
    }
    let attributes: u32 = 64 << 16 | 1 << 12 | 1 << 8 | 1 << 4 | 1;
    [2u32, 32, 1, 0].iter().for_each(|word| body.extend(word.to_le_bytes()));
    body.extend((1u64 << 30).to_le_bytes());
    [attributes, 0].iter().for_each(|word| body.extend(word.to_le_bytes()));
    table(b"HMAT", 2, &body)
}

#[test]
fn an_hmat_says_how_fast_memory_is() {
    let folder = Scratch::new().unwrap();
    let hmat = file(&folder, "hmat.dat", hmat());
    let case = case();
    let (plain, _) = map(&[path(&case)], b"");
    let (got, errors) = map(&[path(&case), "--hmat", &hmat], b"");
    assert_eq!(errors, [""; 0]);
    let memory = |node: u32| {
        json!({
            "node": node,
            "tier": 4,
            "abstract_distance": 576,
            "weight": 1,
            "best_initiators": [node],
            "best_cpu_initiators": [node],
        })
    };
    let expected = json!({
        "used": true,
        "initiators": [0, 1],
        "targets": [0, 1],
        "read_latency_ns": [[100, 180], [180, 100]],
        "write_latency_ns": [[100, 180], [180, 100]],
        "read_bandwidth_mbs": [[204800, 102400], [102400, 204800]],
        "write_bandwidth_mbs": [[204800, 102400], [102400, 204800]],
        "memory": [memory(0), memory(1)],
        "caches": [{"node": 1, "size": 1 << 30, "levels": 1, "level": 1, "line": 64}],
    });
    assert_eq!(got["hmat"], expected);
    for member in ["nodes", "distances", "warnings", "notes", "findings"] {
        assert_eq!(got[member], plain[member]);
    }

    let report = text(&run(&[path(&case), &hmat, "--report"], b"").stdout);
    for wanted in [
        "Access latency in ns, from the node of the row (HMAT)\n            0    1\n     0    100  180\n",
        "Access bandwidth in MB/s, from the node of the row (HMAT)",
        "  node  tier  abstract distance  weight  reached best by",
        "     1     4                576       1  1",
        "  node 1     cache 1 of 1 in front of it: 1 GiB, lines of 64 bytes, direct",
    ] {
        assert!(report.contains(wanted), "no {wanted:?} in:\n{report}");
    }
    // Without an SRAT that stands its domains mean nothing.
    let (got, _) = map(&[path(&case), &hmat, "--numa", "off"], b"");
    assert_eq!((&got["hmat"]["used"], &got["hmat"]["initiators"]), (&json!(false), &json!([])));
    let (got, _) = map(&[path(&case), &hmat, "--numa", "nohmat", "--numa", "fake=2U"], b"");
    assert_eq!((&got["hmat"]["used"], &got["hmat"]["initiators"]), (&json!(false), &json!([])));
    let (faked, _) = map(&[path(&case), "--numa", "fake=2U"], b"");
    assert_eq!(got["nodes"], faked["nodes"]);
    assert_ne!(got["nodes"], plain["nodes"]);
}

#[test]
fn a_madt_says_which_cpus_are_present() {
    let folder = Scratch::new().unwrap();
    let madt = file(&folder, "apic.dat", madt());
    let case = case();
    let (plain, _) = map(&[path(&case)], b"");
    let (got, errors) = map(&[path(&case), "--madt", &madt], b"");
    assert_eq!(errors, [""; 0]);
    let expected = json!({
        "present": [0, 1, 2, 7],
        "online_capable": [9],
        "disabled": [10],
        // CPU 3 has no record: by its number it goes to the second node with memory.
        "nodes": [{"id": 0, "apic_ids": [0, 1]}, {"id": 1, "apic_ids": [2, 7]}],
        "without_srat_record": [7],
        "only_in_srat": [3],
    });
    assert_eq!(got["madt"], expected);
    assert_eq!((&got["nodes"], &plain["madt"]), (&plain["nodes"], &Value::Null));
    assert!(got["notes"].to_string().contains("cpu-without-record"), "{}", got["notes"]);
    // By its signature it is the same.
    assert_eq!(map(&[path(&case), &madt], b"").0, got);

    let report = text(&run(&[path(&case), &madt, "--report"], b"").stdout);
    for wanted in [
        "  APIC  revision 5, 104 bytes, checksum right, OEM \"MAKER \" \"MACHINE \" 1",
        "  4 enabled, 1 that may come (online capable), 1 disabled",
        "  enabled and in no record of the SRAT: 7",
        "  in a record of the SRAT and not in the MADT: 3",
    ] {
        assert!(report.contains(wanted), "no {wanted:?} in:\n{report}");
    }
}

#[test]
fn a_cedt_has_windows_that_become_possible_nodes() {
    let folder = Scratch::new().unwrap();
    let cedt = file(&folder, "cedt.dat", cedt());
    let case = case();
    let (plain, _) = map(&[path(&case)], b"");
    let (got, _) = map(&[path(&case), "--cedt", &cedt], b"");
    let window = json!({
        "base": 16u64 << 30,
        "length": 4u64 << 30,
        "ways": 1,
        "granularity": 256,
        "restrictions": ["type 3", "volatile"],
        "qos_class": 5,
        "host_bridges": [7],
        "node": 2,
    });
    let bridge = json!({"uid": 7, "version": 1, "base": 0xfd00_0000u32, "length": 0x1_0000});
    assert_eq!(got["cedt"], json!({"windows": [window], "host_bridges": [bridge]}));
    assert_eq!((&got["nodes"], &plain["cedt"]), (&plain["nodes"], &Value::Null));
    assert_eq!(got["possible_nodes"], json!([{"id": 2, "pxm": 2}]));
    assert!(got["notes"].to_string().contains("cedt-window"), "{}", got["notes"]);

    let report = text(&run(&[path(&case), &cedt, "--report"], b"").stdout);
    for wanted in [
        "  node 2     [mem 0x400000000-0x4ffffffff] 4 GiB, not interleaved; host bridges",
        "  host bridge 0x7, registers at [mem 0xfd000000-0xfd00ffff]",
    ] {
        assert!(report.contains(wanted), "no {wanted:?} in:\n{report}");
    }
}

#[test]
fn damaged_tables_beside_the_srat_leave_the_nodes_as_they_are() {
    let folder = Scratch::new().unwrap();
    let case = case();
    let (plain, _) = map(&[path(&case)], b"");
    for (name, whole) in [("hmat", hmat()), ("madt", madt()), ("cedt", cedt())] {
        for length in [0, 20, 36, 37, 45, whole.len() - 1] {
            let cut = file(&folder, "cut", &whole[..length]);
            let (got, _) = map(&[path(&case), &format!("--{name}"), &cut], b"");
            assert_eq!(got["nodes"], plain["nodes"], "{name} of {length} bytes");
            assert_ne!(got["findings"], plain["findings"], "{name} of {length} bytes");
        }
        // Another table in its place.
        let other = file(&folder, "other", table(b"XXXX", 1, &[0; 60]));
        let (got, _) = map(&[path(&case), &format!("--{name}"), &other], b"");
        assert!(got["notes"].to_string().contains("table-signature"), "{got}");
        assert_ne!(got[name]["used"], json!(true));
    }
}
