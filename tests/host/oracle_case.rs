//! Cases that Linux was booted on: our kernel's facts, Linux's, and how they differ.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nearmem_boot::machine::case;
use nearmem_boot::qemu::{self, BootRequest, Exit};
use serde_json::Value;

/// A case file and Linux's facts beside it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's name without its ending.
    pub name: String,
    path: PathBuf,
}

/// All cases of a folder, by name.
pub fn load_all(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file.strip_suffix(".json").filter(|name| !name.ends_with(".facts"));
        if let Some(name) = name.map(str::to_owned) {
            cases.push(Case { name, path });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

impl Case {
    /// What Linux decided: the part `exact` of its facts.
    pub fn linux(&self) -> Result<Value> {
        let path = self.path.with_extension("facts.json");
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        Ok(serde_json::from_slice::<Value>(&text)?["exact"].take())
    }

    /// Boots our kernel on the case's machine; the part `exact` of its facts.
    ///
    /// # Errors
    /// The boot failed, or sent no facts; the text has the boot log.
    pub fn ours(&self, qemu: &Path, kernel: &Path) -> Result<Value> {
        let machine = case::load(&self.path)?;
        let (mut log, mut exact) = (String::new(), None);
        let request = BootRequest::new(qemu, kernel, &machine);
        let console = |line: &str| {
            log.push_str(line);
            log.push('\n');
        };
        let outcome = qemu::boot(&request, console, |mut fact| {
            if fact["type"] == "facts" {
                exact = Some(fact["exact"].take());
            }
        })?;
        match exact {
            Some(exact) if outcome.exit == Exit::Success => Ok(exact),
            _ => bail!("no facts: {}\n\n{}", outcome.exit.says(), crate::batch::framed(&log)),
        }
    }
}

/// Where two values differ: one line for each place.
pub fn differences(ours: &Value, linux: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", ours, linux, &mut lines);
    lines
}

fn compare(place: &str, ours: &Value, linux: &Value, lines: &mut Vec<String>) {
    match (ours, linux) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                compare(&format!("{place}.{key}"), &ours[key], &linux[key], lines);
            }
        }
        // Lists of values that have a name of their own are compared value by value.
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && a.iter().all(has_parts) => {
            for (at, (ours, linux)) in a.iter().zip(b).enumerate() {
                compare(&format!("{place}[{at}]"), ours, linux, lines);
            }
        }
        _ if ours != linux => {
            let place = place.trim_start_matches('.');
            lines.push(format!("{place}: ours {ours}, Linux {linux}"));
        }
        _ => {}
    }
}

fn has_parts(value: &Value) -> bool {
    value.is_object()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named_by_place() {
        let linux =
            json!({"nodes": [{"id": 0, "cpus": [0, 1]}], "distances": [[10]], "numa": "srat"});
        assert!(differences(&linux, &linux).is_empty());
        let ours = json!({"nodes": [{"id": 0, "cpus": [0]}], "distances": [[10]], "more": 1});
        assert_eq!(
            differences(&ours, &linux),
            [
                "more: ours 1, Linux null",
                "nodes[0].cpus: ours [0], Linux [0,1]",
                "numa: ours null, Linux \"srat\"",
            ]
        );
        let fewer = json!({"nodes": [], "distances": [[10]], "numa": "srat"});
        assert_eq!(differences(&fewer, &linux).len(), 1);
    }
}
