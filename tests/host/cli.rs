//! The launcher's command line as a person or a program uses it: what it prints, where, and its
//! exit code.

use nearmem_boot::bench::known;
use nearmem_tests::launcher::{json, launcher, text};
use serde_json::Value;

fn data(name: &str) -> String {
    format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_only_qemu_can_refuse_is_said_in_its_words() {
    let output = launcher(&["--", "-numa", "node,nodeid=0,mem=1G"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("QEMU refused the machine"), "{errors}");
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
    let facts = json(&["facts", &data("oracle/memoryless.json")]);
    assert_eq!(facts["case"], "memoryless");
    assert_eq!(facts["exact"]["online_nodes"], serde_json::json!([0, 1, 2]));
    assert!(facts["informative"]["nodes"].is_array() && facts["findings"].is_array());
}

#[test]
fn a_map_needs_no_machine() {
    let map = json(&["map", &data("corpus/v04-two-memoryless-nodes.json")]);
    assert_eq!(map["nodes"].as_array().map(Vec::len), Some(4));
    assert_eq!(map["nodes"][1]["memory"], serde_json::json!([]));
    assert_eq!(map["warnings"], serde_json::json!([]));
    assert_eq!(launcher(&["map", "no-such-case.json"]).status.code(), Some(1));
}

/// Two boots of the box of 2007. What the tables take from each node follows from their sizes.
#[test]
fn the_first_seed_moves_memory_off_node_0_as_arithmetic_says() {
    let seed = json(&["seed", "hashdist", "--json"]);
    let used = |boot: &str, node: usize| {
        seed[boot]["nodes"][node]["mem_used_kb"].as_i64().expect("a number of kB")
    };
    let expected = seed["expected_delta_kb"].as_array().expect("a number for each node");
    assert_eq!(expected.len(), 8);
    for (node, expected) in expected.iter().enumerate() {
        let change = used("hashdist0", node) - used("hashdist1", node);
        assert_eq!(Some(change), expected.as_i64(), "kB that node {node} gains");
    }
    assert_eq!(seed["node0_delta_kb"], seed["expected_node0_delta_kb"]);
    let gain = seed["node0_delta_kb"].as_i64().expect("a number of kB");
    assert!((40_000..45_000).contains(&gain), "2007 gained 41312 kB, this {gain}");
}

/// Two boots, the second for the figure of a machine with one node.
#[test]
fn every_benchmark_gives_one_figure() {
    let output = launcher(&["bench", "--json", "--nodes", "2", "--mem", "512M"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let figures: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object a line"))
        .collect();
    let value = |name: &str| {
        let of_name: Vec<_> = figures.iter().filter(|figure| figure["name"] == name).collect();
        assert_eq!(of_name.len(), 1, "{name} in {figures:?}");
        of_name[0]["value"].as_f64().expect("a number")
    };
    for known in known::ALL {
        let value = value(known.name);
        assert!(value > 0.0 && value < 1e9, "{}: {value}", known.name);
    }
    assert_eq!(figures.len(), known::ALL.len());
    // What contains something else takes longer than it.
    assert!(value("order0_pair_guarded") > value("order0_pair"));
    assert!(value("worst_order0") >= value("order0_pair") / 2.0);
    assert!(value("boot_to_allocator") > value("memory_startup"));
    assert!(value("metadata") < 64.0, "Linux has 64 bytes");
    let unit = |name: &str| figures.iter().find(|f| f["name"] == name).map(|f| f["unit"].clone());
    assert_eq!(unit("order4_pair"), Some("instructions".into()));
    assert_eq!(unit("metadata"), Some("bytes_per_frame".into()));
    assert_eq!(unit("metadata_fixed"), Some("bytes_per_zone".into()));
}

/// Two boots of 16 nodes: what the allocator takes to be up must not follow the memory.
#[test]
fn four_tebibytes_are_up_as_soon_as_one_gibibyte() {
    let count = |memory: &str| {
        let words = "dhash_entries=4096 ihash_entries=4096 mhash_entries=4096 mphash_entries=4096";
        let machine = ["bench", "--json", "--nodes", "16", "--mem", memory];
        let figure = ["--only", "boot_to_allocator", "--append", words];
        let figure = json(&[&machine[..], &figure].concat());
        assert_eq!(figure["name"], "boot_to_allocator");
        figure["value"].as_f64().expect("a number")
    };
    let (small, large) = (count("1G"), count("4T"));
    assert!(large - small <= (small / 10.0).max(200_000.0), "{small} and {large} instructions");
}

#[test]
fn a_benchmark_that_is_none_is_refused() {
    let output = launcher(&["bench", "--only", "order7_pair"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("order7_pair"), "{}", text(&output.stderr));
}
