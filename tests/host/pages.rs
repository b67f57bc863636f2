//! Pages of the documentation against the sources: the list of findings has every kind, and each
//! difference from Linux names tests that there are.

use std::path::{Path, PathBuf};

use nearmem::finding::Kind;
use nearmem::options::{BAD_VALUE, UNKNOWN_OPTION};

/// The workspace's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The cells of every row of a page's tables, heads and rules left out.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let tables = text.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    };
    tables.map(cells).collect()
}

#[test]
fn the_page_has_every_kind_and_no_other() {
    let mut rows = rows("findings.md");
    assert_eq!(rows.remove(0), ["name", "severity", "when", "what then"]);
    let kinds = Kind::NAMES.iter().map(|&(name, severity)| (name, severity.name()));
    let complaints = [UNKNOWN_OPTION, BAD_VALUE].map(|name| (name, "warning"));
    let expected: Vec<_> = kinds.chain(complaints).collect();
    for (at, (name, severity)) in expected.iter().enumerate() {
        let row = rows.get(at).map(|row| row.iter().map(String::as_str).collect::<Vec<_>>());
        let expected = format!("`{name}`");
        assert!(
            matches!(row.as_deref(), Some([page_name, page_severity, when, then])
                if *page_name == expected && page_severity == severity
                    && !when.is_empty() && !then.is_empty()),
            "docs/findings.md, row {}: {name}, {severity} expected instead of {row:?}",
            at + 1
        );
    }
    assert_eq!(rows.len(), expected.len(), "rows of kinds that there are not");
}

#[test]
fn no_two_kinds_have_one_name() {
    let mut names: Vec<_> = Kind::NAMES.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), Kind::NAMES.len());
}

/// The text of all sources of a folder.
fn sources(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_difference_in_the_node_map_names_tests_that_there_are() {
    let mut text = String::new();
    for part in ["mm", "arch", "boot", "tests"] {
        sources(&root().join(part), &mut text);
    }
    let exists = |name: &str| {
        let machine = root().join("tests/machines").join(format!("{name}.toml"));
        machine.is_file() || text.contains(&format!("fn {name}("))
    };
    let with_tests = rows("differences.md").into_iter().filter(|row| row.len() == 4);
    let mut checked = 0;
    for row in with_tests.filter(|row| row[0] != "Linux") {
        let names: Vec<_> = row[3].split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {}", row[0]);
        for name in names {
            assert!(exists(name), "there is no test {name}: {}", row[0]);
            checked += 1;
        }
    }
    assert!(checked >= 29, "only {checked} tests are named");
}
