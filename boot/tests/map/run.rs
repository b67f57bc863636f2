//! Running `map`, and one real machine in the forms in which it can be given.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nearmem_boot::scratch::Scratch;
use nearmem_boot::workspace::root;
use serde_json::Value;

/// Runs `map` with these words; `input` is its standard input.
pub fn run(words: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearmem-boot"));
    command.arg("map").args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A child that does not read ends before all is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The map as JSON, which has to be all of standard output; and the lines of standard error.
pub fn map(words: &[&str], input: &[u8]) -> (Value, Vec<String>) {
    let output = run(words, input);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {errors}");
    let value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    (value, errors.lines().map(str::to_owned).collect())
}

/// Exit code 1, nothing on standard output, one line on standard error that says all of `said`.
pub fn refused(words: &[&str], input: &[u8], said: &[&str]) {
    let output = run(words, input);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words:?}: {errors}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
    for said in said {
        assert!(errors.contains(said), "{words:?}: no {said:?} in {errors}");
    }
}

/// A real machine of four sockets, with its tables beside it.
const CASE: &str = "v02-four-socket-pxm-starts-at-1";

pub fn corpus(ending: &str) -> PathBuf {
    root().join("tests/data/corpus").join(format!("{CASE}.{ending}"))
}

pub fn bytes(ending: &str) -> Vec<u8> {
    std::fs::read(corpus(ending)).unwrap()
}

pub fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A table as `acpidump` prints it.
pub fn dumped(heading: &str, bytes: &[u8]) -> String {
    let mut text = format!("{heading}\n");
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X} ")).collect();
        let letter = |&byte: &u8| if (b' '..127).contains(&byte) { char::from(byte) } else { '.' };
        let letters: String = bytes.iter().map(letter).collect();
        text += &format!("    {:04X}: {hex:<48} {letters}\n", line * 16);
    }
    text + "\n"
}

/// The dump of the real machine, with other tables before and behind ours.
pub fn dump() -> String {
    let facp = dumped("FACP @ 0x00000000BFFE1A5C", b"FACP\x30\0\0\0");
    let srat = dumped("SRAT @ 0x00000000BFFE1B00", &bytes("srat.bin"));
    let slit = dumped("SLIT @ 0x00000000BFFE2B00", &bytes("slit.bin"));
    format!("{facp}{slit}{srat}{}", dumped("SSDT @ 0xBFFE3000", b"SSDT"))
}

/// What the case itself gives: the measure of all other forms of it.
pub fn of_case() -> Value {
    map(&[path(&corpus("json"))], b"").0
}

/// The case's memory map as lines, one for each region.
fn memory_lines(line: impl Fn(u64, u64, &str) -> String) -> String {
    let case: Value = serde_json::from_slice(&bytes("json")).unwrap();
    let number = |value: &Value| match value.as_str() {
        Some(text) => u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap(),
        None => value.as_u64().unwrap(),
    };
    let regions = case["memory_map"].as_array().unwrap();
    let lines = regions
        .iter()
        .map(|region| line(number(&region[0]), number(&region[1]), region[2].as_str().unwrap()));
    lines.collect()
}

pub fn iomem() -> String {
    memory_lines(|start, end, kind| {
        let name = if kind == "usable" { "System RAM" } else { "Reserved" };
        let last = end - 1;
        format!("{start:08x}-{last:08x} : {name}\n  {start:08x}-{last:08x} : Kernel code\n")
    })
}

pub fn boot_log() -> String {
    let head = "[    0.000000] BIOS-provided physical RAM map:\n".to_owned();
    head + &memory_lines(|start, end, kind| {
        format!("[    0.000000] BIOS-e820: [mem {start:#018x}-{:#018x}] {kind}\n", end - 1)
    })
}

pub fn file(folder: &Scratch, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    path(&file).to_owned()
}
