//! The corpus: tables of real, odd and damaged machines, each with the node map that it must give
//! (`tests/data/corpus`). `map` has to agree in every member that a case expects.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nearmem_boot::map::case_as_json;
use serde_json::Value;

/// Names of notes that the corpus lists; whatever else `map` notes is its own.
const NOTES: [&str; 14] = [
    "srat-hotplug-window",
    "srat-nonvolatile-range",
    "srat-zero-length-memory",
    "srat-cpu-listed-twice",
    "srat-disabled-generic-initiator",
    "srat-unknown-type",
    "slit-absent",
    "slit-row-without-domain",
    "slit-asymmetric",
    "slit-unreachable-255",
    "node-memoryless",
    "node-cpuless",
    "node-interleaved",
    "pxm-differs-from-node",
];

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/corpus");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut cases: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    cases.sort();
    cases
}

fn expected(case: &Path) -> Value {
    let case: Value = serde_json::from_slice(&std::fs::read(case).unwrap()).unwrap();
    plain(&case["expect"])
}

/// The same with text like `"0x1000"` as numbers.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap().into(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        _ => value.clone(),
    }
}

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// Every difference between what a case expects and what `map` makes of it.
fn differences(case: &Path) -> Vec<String> {
    let (expect, got) = (expected(case), case_as_json(case).unwrap());
    let mut differences = Vec::new();
    let mut compare = |what: &str, expect: &Value, got: &Value| {
        if expect != got {
            differences.push(format!("{what}: expected {expect}, got {got}"));
        }
    };
    for member in ["nodes", "distances", "fallback", "possible_nodes"] {
        compare(member, &expect[member], &got[member]);
    }
    // Fewer bytes than a frame are no uncovered memory to the corpus.
    if got["uncovered_bytes"].as_u64() >= Some(4096) || !expect["uncovered_bytes"].is_null() {
        compare("uncovered_bytes", &expect["uncovered_bytes"], &got["uncovered_bytes"]);
    }
    if !expect["fallback_order"].is_null() {
        compare("fallback_order", &expect["fallback_order"], &got["fallback_order"]);
    }
    let mut compare = |what: &str, expect: BTreeSet<&str>, got: BTreeSet<&str>| {
        if expect != got {
            differences.push(format!("{what}: expected {expect:?}, got {got:?}"));
        }
    };
    compare("warnings", names(&expect["warnings"]), names(&got["warnings"]));
    let known = names(&got["notes"]).into_iter().filter(|name| NOTES.contains(name)).collect();
    compare("notes", names(&expect["notes"]), known);
    differences
}

#[test]
fn every_case_gives_the_map_that_it_expects() {
    let cases = cases();
    assert!(cases.len() >= 42, "only {} cases: the corpus is not complete", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_stem().unwrap().to_string_lossy();
        wrong.extend(differences(case).into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Where a table lies beside a case, the case has its entries as well: both must give one map.
#[test]
fn raw_tables_and_entries_agree() {
    let mut compared = 0;
    for case in cases() {
        let raw = case.with_extension("srat.bin");
        let text = std::fs::read_to_string(&case).unwrap();
        if !raw.is_file() || text.contains("malformed") {
            continue;
        }
        let folder = std::env::temp_dir().join(format!("nearmem-corpus-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let alone = folder.join(case.file_name().unwrap());
        std::fs::write(&alone, text).unwrap();
        let (mut raw, mut made) = (case_as_json(&case).unwrap(), case_as_json(&alone).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        // Entries that the case leaves out (disabled, zero) shift offsets and say nothing else.
        for map in [&mut raw, &mut made] {
            map.as_object_mut().unwrap().remove("findings");
            let own = |name: &Value| NOTES.contains(&name.as_str().unwrap());
            map["notes"].as_array_mut().unwrap().retain(own);
        }
        assert_eq!(raw, made, "{}", case.display());
        compared += 1;
    }
    assert!(compared >= 15, "{compared} cases have a table beside them");
}
