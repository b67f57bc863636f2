//! A guest in QEMU, by the launcher's means.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use nearmem_boot::machine::{self, Machine};
use nearmem_boot::qemu::{self, BootRequest, Exit};
use nearmem_boot::setup::{self, Tools};

use crate::batch::{Booted, Guest};
use crate::elf::test_names;
use crate::events::{self, Event};
use crate::machine_file::MachineFile;

/// How long one boot may take, with all tests in it.
const TIMEOUT: Duration = Duration::from_secs(900);
/// A guest that says nothing for so long hangs. Tests take a second or two, on a host where others
/// are at work, too.
const SILENCE: Duration = Duration::from_secs(90);

/// QEMU, and the ELF with the in-kernel suites.
#[derive(Clone, Debug)]
pub struct Suites {
    qemu: PathBuf,
    elf: PathBuf,
    /// The names of all tests in the ELF, sorted.
    pub tests: Vec<String>,
}

/// Sets up what is missing and builds the suites.
pub fn build_suites() -> Result<Suites> {
    let Tools { toolchain, qemu } = setup::ensure()?;
    let elf = nearmem_boot::build::suites(&toolchain)?;
    let bytes = std::fs::read(&elf).context("cannot read the suites' ELF")?;
    Ok(Suites { qemu, elf, tests: test_names(&bytes)? })
}

/// The value of `test=` for these tests of `all`: their names, and `suite::*` for a suite that is
/// whole, since a command line has an end. `-` is no test's name: the kernel boots, and ends.
fn selection(tests: &[String], all: &[String]) -> String {
    let suite = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
    let count =
        |names: &[String], wanted: &str| names.iter().filter(|name| suite(name) == wanted).count();
    let mut words: Vec<String> = Vec::new();
    for name in tests {
        let suite = suite(name);
        let whole = count(tests, &suite) == count(all, &suite);
        let word = if whole { format!("{suite}::*") } else { name.clone() };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.is_empty() { "-".to_owned() } else { words.join(",") }
}

/// A machine that boots the suites.
pub struct QemuGuest {
    suites: Suites,
    machine: Machine,
}

impl QemuGuest {
    /// The guest that a machine file describes.
    pub fn new(suites: Suites, file: &MachineFile) -> Result<QemuGuest> {
        let machine = machine::load(&file.path).with_context(|| file.name.clone())?;
        Ok(QemuGuest { suites, machine })
    }
}

impl Guest for QemuGuest {
    fn boot(&mut self, tests: &[String], event: &mut dyn FnMut(Event)) -> Booted {
        let list = selection(tests, &self.suites.tests);
        let request = BootRequest {
            append: format!("test={list}"),
            timeout: TIMEOUT,
            silence: SILENCE,
            ..BootRequest::new(&self.suites.qemu, &self.suites.elf, &self.machine)
        };
        let mut log = String::new();
        let console = |line: &str| {
            log.push_str(line);
            log.push('\n');
        };
        let trouble = match qemu::boot(&request, console, |value| event(events::parse(value))) {
            Ok(outcome) if outcome.exit == Exit::Success => None,
            Ok(outcome) => Some(outcome.exit.says()),
            Err(why) => Some(format!("{why:#}")),
        };
        Booted { log, trouble }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_suites_are_one_word() {
        let all = ["a::one", "a::two", "ab::one"].map(String::from);
        assert_eq!(selection(&all, &all), "a::*,ab::*");
        assert_eq!(selection(&all[1..], &all), "a::two,ab::*");
        assert_eq!(selection(&[], &all), "-");
    }
}
