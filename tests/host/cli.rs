//! The launcher's command line as a person or a program uses it: what it prints, where, and its
//! exit code.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use nearmem_boot::workspace;
use serde_json::Value;

/// Runs `cargo run -- …` with standard input closed.
fn launcher(arguments: &[&str]) -> Output {
    let mut command = workspace::cargo();
    command.args(["run", "-q", "-p", "nearmem-boot", "--"]).args(arguments);
    command.stdin(Stdio::null()).output().expect("cargo starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// Exit code 2, nothing on standard output, and one line that says this.
fn refused(arguments: &[&str], says: &str) {
    let output = launcher(arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
    assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
    assert!(errors.contains(says), "{arguments:?}: {errors}");
}

#[test]
fn impossible_machines_are_refused_in_one_line() {
    refused(&["--nodes", "0"], "0 nodes");
    refused(&["--mem", "lots"], "lots");
    refused(&["--nodes", "4", "--mem", "3M"], "too little");
    refused(&["--machine", "no-such-file.toml"], "no-such-file.toml");
    refused(&["facts", "no-such-case.json"], "no-such-case.json");
}

#[test]
fn what_only_qemu_can_refuse_is_said_in_its_words_and_is_2_too() {
    refused(&["--", "-numa", "node,nodeid=0,mem=1G"], "mem");
}

#[test]
fn a_dry_run_prints_the_command_and_boots_nothing() {
    let output = launcher(&["--dry-run", "--nodes", "3", "--cpus", "2", "--append", "hashdist=0"]);
    let line = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains("qemu-system-x86_64"), "{line}");
    assert_eq!(line.matches("-numa node,nodeid=").count(), 3, "{line}");
    assert!(line.contains("-smp 2") && line.contains("hashdist=0"), "{line}");
}

#[test]
fn a_run_shows_nodes_tables_and_memory_and_ends_by_itself() {
    let output = launcher(&["--nodes", "4", "--mem", "1G"]);
    let log = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{log}\n{}", text(&output.stderr));
    for wanted in [
        "SRAT: PXM 3 -> APIC 0x03 -> Node 3",
        "available: 4 nodes (0-3)",
        "node distances:",
        "Fallback order for Node 2: 2 3 0 1",
        "Dentry cache hash table entries: 131072 (order: 8, 1048576 bytes, vmalloc)",
        "used kB",
        "hash pages",
    ] {
        assert!(log.contains(wanted), "no {wanted:?} in:\n{log}");
    }
}

#[test]
fn facts_are_one_object_on_standard_output() {
    let case = data("oracle/memoryless.json");
    let output = launcher(&["facts", &case.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let facts: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(facts["case"], "memoryless");
    assert_eq!(facts["exact"]["online_nodes"], serde_json::json!([0, 1, 2]));
    assert!(facts["informative"]["nodes"].is_array() && facts["findings"].is_array());
}
