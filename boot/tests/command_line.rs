//! The launcher's command line as a person sees it: exit codes, and what is said where. A script
//! stands in for QEMU, so that every way in which a boot can end is there at once.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmem_boot::scratch::Scratch;

/// Runs the launcher with these words; `qemu` stands in for QEMU.
fn launcher(words: &[&str], qemu: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearmem-boot"));
    command.args(words).env_remove("NEARMEM_TOOLCHAIN").env_remove("NEARMEM_QEMU");
    if let Some(qemu) = qemu {
        command.env("NEARMEM_QEMU", qemu);
    }
    command.output().unwrap()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

/// Exit code 2, nothing on standard output, and one line on standard error that says so.
fn refused(words: &[&str], said: &str) {
    let output = launcher(words, None);
    let errors = lines(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {errors:?}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert!(errors.len() == 1 && errors[0].contains(said), "{words:?}: {errors:?}");
}

#[test]
fn machines_that_cannot_be() {
    refused(&["--nodes", "0"], "0 nodes: a machine has 1 to 128");
    refused(&["--nodes", "200"], "200 nodes: a machine has 1 to 128");
    refused(&["--cpus", "0"], "0 CPUs");
    refused(&["--mem", "0"], "0 bytes of memory are too little");
    refused(&["--mem", "lots"], "`lots` is no size of memory");
    refused(&["--machine", "/nowhere/m.toml"], "/nowhere/m.toml: No such file");
    refused(&["--srat", "/nowhere/srat.bin"], "SRAT: /nowhere/srat.bin: No such file");
    refused(
        &["--slit", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
        "expected a raw table, header included",
    );
    refused(&["seed", "hashdist", "--nodes", "0"], "0 nodes");
    refused(&["boot-elf", "/nowhere/kernel"], "/nowhere/kernel: no such ELF");
}

#[test]
fn cases_that_are_none() {
    let scratch = Scratch::new().unwrap();
    let path = scratch.path().join("case.json");
    for (text, said) in [("{", "no case"), (r#"{"name": "x"}"#, "missing field `qemu`")] {
        std::fs::write(&path, text).unwrap();
        refused(&["facts", path.to_str().unwrap()], said);
    }
    refused(&["facts", "/nowhere/case.json"], "No such file");
}

#[test]
fn options_that_are_none_and_help() {
    assert_eq!(launcher(&["--node", "2"], None).status.code(), Some(2));
    let help = launcher(&["--help"], None);
    assert!(help.status.success());
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    for word in ["--nodes", "--mem", "--append", "--dry-run", "seed hashdist", "Exit code"] {
        assert!(text.contains(word), "{word}");
    }
}

/// What the stand-in does first: finds COM2's socket in its arguments. Perl is part of every
/// Debian.
const CONNECT: &str = r#"use IO::Socket::UNIX; my ($p) = "@ARGV" =~ /id=com2,path=(\S+)/;
my $com2 = IO::Socket::UNIX->new(Peer => $p) or die; $com2->autoflush(1); $| = 1;
"#;

/// A program that stands in for QEMU, and a file that stands in for the kernel.
fn stand_in(folder: &Path, perl: &str) -> (PathBuf, PathBuf) {
    let (qemu, elf) = (folder.join("qemu"), folder.join("kernel"));
    std::fs::write(&qemu, format!("#!/usr/bin/perl\n{CONNECT}{perl}\n")).unwrap();
    std::fs::set_permissions(&qemu, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&elf, "").unwrap();
    (qemu, elf)
}

/// Boots the stand-in; its exit code, standard output and standard error.
fn boot(perl: &str, words: &[&str]) -> (Option<i32>, Vec<String>, Vec<String>) {
    let scratch = Scratch::new().unwrap();
    let (qemu, elf) = stand_in(scratch.path(), perl);
    let all: Vec<&str> =
        std::iter::once("boot-elf").chain(words.iter().copied()).chain(elf.to_str()).collect();
    let output = launcher(&all, Some(&qemu));
    (output.status.code(), lines(&output.stdout), lines(&output.stderr))
}

#[test]
fn success_is_the_kernels_word() {
    let said = r#"print "one\r\ntwo"; print $com2 qq({"type":"end","code":0}\n); exit 0;"#;
    assert_eq!(boot(said, &[]), (Some(0), vec!["one".into(), "two".into()], vec![]));

    let (code, _, errors) = boot(r#"print "one\n"; exit 0;"#, &[]);
    assert!(code == Some(1) && errors[0].contains("without a word"), "{errors:?}");
}

#[test]
fn a_failure_names_the_panic() {
    let perl = r#"print $com2 qq({"type":"panic","message":"no node 0"}\n); exit 33;"#;
    let (code, _, errors) = boot(perl, &[]);
    assert_eq!((code, errors), (Some(1), vec!["nearmem: the kernel failed: no node 0".into()]));
}

#[test]
fn a_hang_is_ended() {
    let (code, out, errors) = boot(r#"print "one\n"; sleep 60;"#, &["--timeout", "5"]);
    assert_eq!((code, out), (Some(1), vec!["one".into()]));
    assert_eq!(errors, ["nearmem: the kernel did not end within 5 s"]);
}

#[test]
fn a_refusal_is_qemus_own_line() {
    let perl = r#"print STDERR "qemu-system-x86_64: no such device\n"; exit 1;"#;
    let (code, _, errors) = boot(perl, &[]);
    assert_eq!(code, Some(2));
    assert_eq!(errors, ["nearmem: QEMU refused the machine: no such device"]);
}
