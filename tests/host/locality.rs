//! The locality meter in real boots: known loops are counted exactly, and a pair touches what it
//! should. Left out, with a word, where QEMU takes no plugin.

use std::os::unix::fs::PermissionsExt;

use nearmem_boot::scratch::Scratch;
use nearmem_boot::setup;
use nearmem_tests::launcher::{command, json, run, text};
use serde_json::Value;

/// A report of the meter with these options; `None` where there is no plugin to be had.
fn measure(options: &[&str]) -> Option<Value> {
    let words = [&["--json", "--nodes", "2", "--mem", "512M", "--cpus", "2"], options].concat();
    let report = json(&words);
    if report["remote_accesses_per_pair"].is_null() && report["regions"].is_null() {
        eprintln!("left out: this QEMU takes no plugin");
        return None;
    }
    Some(report)
}

fn regions(report: &Value) -> &[Value] {
    report["regions"].as_array().expect("a list of regions")
}

fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} in {value}"))
}

/// The loads and stores of a region to one kind of one node's memory.
fn accesses(region: &Value, node: u64, kind: &str) -> u64 {
    let shares = region["memory"].as_array().expect("a list of shares");
    let of_it = |share: &&Value| share["node"] == node && share["kind"] == kind;
    shares.iter().filter(of_it).map(|share| count(share, "loads") + count(share, "stores")).sum()
}

fn remote_pairs(report: &Value) -> Vec<&Value> {
    let of_it = |region: &&Value| region["role"] == "pair" && region["node"] != region["cpu_node"];
    let pairs: Vec<_> = regions(report).iter().filter(of_it).collect();
    assert_eq!(pairs.len(), 2, "with the token held, and taken each time: {report}");
    pairs
}

#[test]
fn known_loops_are_counted_exactly_and_instructions_as_the_clock_counts_them() {
    let counting = ["--", "-icount", "shift=0,sleep=off", "-cpu", "max,erms=off,fsrm=off"];
    let Some(report) = measure(&[&["--locality"], &counting[..]].concat()) else { return };
    let checks: Vec<_> = regions(&report).iter().filter(|r| r["role"] == "check").collect();
    assert_eq!(checks.len(), 2, "on a frame of each node: {report}");
    for check in checks {
        assert_eq!(check["right"], true, "{check}");
        let node = count(check, "node");
        // A load, a store, and an addition in memory, 1000 times.
        assert_eq!(accesses(check, node, "frames"), 4000, "{check}");
        assert_eq!(check["memory"].as_array().map(Vec::len), Some(1), "{check}");
        assert_eq!(count(check, "instructions"), 5000, "{check}");
    }
    for region in regions(&report) {
        // Both readings of the clock and the marks are within its ticks, outside the region.
        let more = count(region, "ticks").checked_sub(count(region, "instructions"));
        assert!(more.is_some_and(|more| more <= 20), "{region}");
    }
    assert_eq!(report["strays"], 0);
}

#[test]
fn a_remote_zones_pageset_is_local_or_with_its_zone() {
    let Some(local) = measure(&["--locality"]) else { return };
    for pair in remote_pairs(&local) {
        assert!(accesses(pair, 0, "pageset") > 0, "{pair}");
        assert_eq!(accesses(pair, 1, "pageset"), 0, "{pair}");
    }
    assert_eq!(local["remote_accesses_per_pair"], 0.0, "{local}");

    let zone = measure(&["--locality", "--append", "pageset=zone"]).expect("as before");
    for pair in remote_pairs(&zone) {
        assert_eq!(accesses(pair, 0, "pageset"), 0, "{pair}");
        assert!(accesses(pair, 1, "pageset") >= 1000, "{pair}");
    }
    assert!(zone["remote_accesses_per_pair"].as_f64() > Some(0.0), "{zone}");
}

#[test]
fn the_boot_cpu_can_be_on_every_node() {
    let Some(report) = measure(&["--locality=every-node"]) else { return };
    let boots = report["boots"].as_array().expect("a list of boots");
    let nodes: Vec<_> = boots.iter().map(|boot| &regions(boot)[0]["cpu_node"]).collect();
    assert_eq!(nodes, [0, 1]);
    for boot in boots {
        assert_eq!(boot["remote_accesses_per_pair"], 0.0, "{boot}");
    }
    assert_eq!(report["remote_accesses_per_pair"], 0.0);
    for pair in boots.iter().flat_map(remote_pairs) {
        let (own, other) = (count(pair, "cpu_node"), count(pair, "node"));
        assert!(accesses(pair, own, "pageset") > 0, "{pair}");
        assert_eq!(accesses(pair, other, "pageset"), 0, "{pair}");
        // What a CPU has of the zones lies on its own node.
        assert!(accesses(pair, own, "cpu") > 0, "{pair}");
    }
}

/// A QEMU without plugins boots all the same.
#[test]
fn without_a_plugin_the_figures_are_null_and_a_line_says_so() {
    let scratch = Scratch::new().expect("a folder");
    let program = scratch.path().join("qemu-without-plugins");
    let qemu = setup::qemu::ensure().expect("QEMU");
    let script = format!(
        "#!/bin/sh\nfor word; do\n[ \"$word\" = -plugin ] || continue\n\
         echo \"qemu: -plugin: invalid option\" >&2; exit 1\ndone\nexec {} \"$@\"\n",
        qemu.display()
    );
    std::fs::write(&program, script).expect("a script");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("its mode");

    for (option, console) in [("--json", false), ("--nodes=2", true)] {
        let mut command = command(&["--locality", option, "--mem", "512M"]);
        let output = run(command.env(setup::qemu::VARIABLE, &program));
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(
            said.contains("no figures of locality") && said.contains("invalid option"),
            "{said}"
        );
        match console {
            true => assert!(shown.contains("hash pages"), "{shown}"),
            false => {
                let value: Value = serde_json::from_str(&shown).expect("one JSON value");
                assert!(value["remote_accesses_per_pair"].is_null() && value["regions"].is_null());
            }
        }
    }
}
