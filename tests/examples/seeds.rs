//! Fills the fuzz targets' corpus directories: `cargo run -q -p nearmem-tests --example seeds`.
//!
//! Real and damaged tables of `tests/data/corpus`, the machines that they make, and the command
//! lines of `tests/machines` go in, and likely tables; files named by their origin come out in `fuzz/corpus`. What
//! the fuzzers found by themselves there stays.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nearmem::topology::{Region, RegionKind};
use nearmem_boot::map::case_table;
use nearmem_checks::TARGETS;
use nearmem_checks::likely::table_for;
use nearmem_checks::machine::Machine;
use nearmem_checks::random::Random;
use serde_json::Value;

fn main() -> Result<()> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = tests.join("../fuzz/corpus");
    let mut count = 0;
    let mut seed = |target: &str, name: &str, bytes: &[u8]| -> Result<()> {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        count += 1;
        fs::write(folder.join(name), bytes).with_context(|| format!("{target}/{name}"))
    };
    for (name, path) in files(&tests.join("data/corpus"), "json")? {
        let table = |signature| case_table(&path, signature);
        let (srat, slit) = (table("SRAT")?, table("SLIT")?);
        for (target, table) in [("srat", &srat), ("slit", &slit)] {
            if let Some(bytes) = table {
                seed(target, &name, bytes)?;
            }
        }
        let case: Value = serde_json::from_slice(&fs::read(&path)?)?;
        let regions =
            regions(&case["memory_map"]).with_context(|| format!("{name}: memory_map"))?;
        for (suffix, line) in [("", ""), ("-fake", "numa=fake=3:10,20"), ("-each", "numa=fake=2U")]
        {
            let machine = Machine {
                srat: srat.clone(),
                slit: slit.clone(),
                regions: regions.clone(),
                line: line.into(),
                ..Machine::default()
            };
            seed("machine", &format!("{name}{suffix}"), &machine.to_bytes())?;
        }
    }
    for (name, path) in files(&tests.join("machines"), "toml")? {
        let machine: toml::Table = toml::from_str(&fs::read_to_string(path)?)?;
        if let Some(line) = machine.get("append").and_then(|line| line.as_str()) {
            seed("command_line", &name, line.as_bytes())?;
        }
    }
    let mut random = Random::new(1);
    for number in 0..40 {
        for (target, _) in TARGETS {
            if let Some(table) = table_for(target, &mut random) {
                seed(target, &format!("likely-{number}"), &table)?;
            }
        }
    }
    println!("{count} seeds");
    Ok(())
}

/// The files of a folder with this ending, by name.
fn files(folder: &Path, ending: &str) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = file?.path();
        if path.extension().is_some_and(|end| end == ending) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, path));
        }
    }
    Ok(files)
}

/// `[start, end, kind]` each; numbers may be hexadecimal text.
fn regions(map: &Value) -> Option<Vec<Region>> {
    let number = |value: &Value| match value {
        Value::String(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        _ => value.as_u64(),
    };
    let region = |region: &Value| {
        let usable = region[2] == "usable";
        let kind = if usable { RegionKind::Usable } else { RegionKind::Other };
        Some(Region::new(number(&region[0])?, number(&region[1])?, kind))
    };
    map.as_array()?.iter().map(region).collect()
}
