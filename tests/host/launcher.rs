//! The launcher as a program: what it prints, where, and its exit code.

use std::process::{Command, Output, Stdio};

use nearmem_boot::workspace;
use serde_json::Value;

/// Runs `cargo run -- …` with standard input closed.
pub fn launcher(arguments: &[&str]) -> Output {
    run(&mut command(arguments))
}

/// The command that does it, for a test that changes its environment.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = workspace::cargo();
    command.args(["run", "-q", "-p", "nearmem-boot", "--"]).args(arguments);
    command
}

/// Runs a command with standard input closed.
pub fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("cargo starts")
}

/// What a stream has, as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The one JSON value that a command writes; nothing else may be there.
pub fn json(arguments: &[&str]) -> Value {
    let output = launcher(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}
