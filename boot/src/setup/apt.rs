//! Packages of Debian and Ubuntu, installed as root or with a sudo that asks no password.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::progress::{last_words, run, say};

/// The command that a person types where we may not.
fn command_to_type(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install -y {}", packages.join(" "))
}

/// Whether a program can be started with these arguments and succeeds.
fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What to put before `apt-get`: nothing for root, sudo where it asks no password.
fn prefix() -> Option<&'static [&'static str]> {
    if rustix::process::geteuid().is_root() {
        return Some(&["env", "DEBIAN_FRONTEND=noninteractive"]);
    }
    let sudo: &[&str] = &["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"];
    works("sudo", &["-n", "true"]).then_some(sudo)
}

/// Installs packages; `what` names the purpose ("QEMU").
///
/// # Errors
/// There is no `apt-get`, no right to use it, or it fails. The text has the command to type.
pub fn install(packages: &[&str], what: &str) -> Result<()> {
    let command = command_to_type(packages);
    if !works("apt-get", &["--version"]) {
        bail!("{what} is missing and there is no apt-get here; on Debian it would be: {command}");
    }
    let Some(prefix) = prefix() else {
        bail!("{what} is missing; type this, then start again: {command}");
    };
    say(&format!("{what} is missing: installs {} with apt-get", packages.join(" ")));
    let get = |arguments: &[&str]| -> Result<()> {
        let mut command = Command::new(prefix[0]);
        command.args(&prefix[1..]).args(["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]);
        command.args(arguments);
        let text = format!("apt-get {}", arguments.join(" "));
        let output = run(&mut command, &text).context("cannot start apt-get")?;
        if !output.status.success() {
            bail!("{text} failed: {}", last_words(&output));
        }
        Ok(())
    };
    // A package list that is old but there may do, so a failed update is only said.
    if let Err(why) = get(&["update"]) {
        say(&format!("{why:#}"));
    }
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend_from_slice(packages);
    get(&arguments).with_context(|| format!("{what} is missing; type: {command}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_one_line() {
        assert_eq!(
            command_to_type(&["a", "b"]),
            "sudo apt-get update && sudo apt-get install -y a b"
        );
    }

    #[test]
    fn a_missing_program_does_not_work() {
        assert!(works("true", &[]) && !works("false", &[]));
        assert!(!works("no-such-program-here", &[]));
    }
}
