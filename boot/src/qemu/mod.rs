//! One boot in QEMU: in come an ELF and a machine, out come console lines, facts and how it ended.
//!
//! COM1 is QEMU's standard output, read line by line. COM2 is a socket with one JSON value a line.
//! Every boot has a time limit, and QEMU never outlives the launcher.

pub mod accel;
mod boot;
pub mod command;
mod end;
mod ports;

use std::path::Path;
use std::time::Duration;

pub use accel::Accel;
pub use boot::boot;

use crate::machine::Machine;

/// The time limit where none is given.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// What to boot, on what, and for how long at most.
#[derive(Debug, Clone)]
pub struct BootRequest<'a> {
    /// The program to run as QEMU.
    pub qemu: &'a Path,
    /// The kernel, an ELF with a PVH note.
    pub elf: &'a Path,
    /// The machine.
    pub machine: &'a Machine,
    /// Words for the kernel's command line, after the machine's own.
    pub append: String,
    /// What executes the guest's instructions.
    pub accel: Accel,
    /// The time limit; the guest is ended when it is over.
    pub timeout: Duration,
    /// How long the guest may say nothing on either port before it is ended as hung; no limit
    /// unless given.
    pub silence: Duration,
    /// The value of QEMU's `-plugin`: a plugin to load, and its arguments.
    pub plugin: Option<String>,
}

impl<'a> BootRequest<'a> {
    /// A boot with the default accelerator and time limit and nothing more to append.
    pub fn new(qemu: &'a Path, elf: &'a Path, machine: &'a Machine) -> BootRequest<'a> {
        BootRequest {
            qemu,
            elf,
            machine,
            append: String::new(),
            accel: Accel::Auto,
            timeout: TIMEOUT,
            silence: Duration::MAX,
            plugin: None,
        }
    }
}

/// How a boot ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// The kernel said its work is done and switched the machine off.
    Success,
    /// The kernel failed, or went away without a word; the text says which.
    Failure(String),
    /// The time limit was over.
    Timeout(Duration),
    /// The guest said nothing for too long.
    Silent(Duration),
    /// QEMU could not start the machine; the text is its own line.
    Refused(String),
}

impl Exit {
    /// One line for a person; empty for success.
    pub fn says(&self) -> String {
        match self {
            Exit::Success => String::new(),
            Exit::Failure(why) => why.clone(),
            Exit::Timeout(limit) => {
                format!("the kernel did not end within {} s", limit.as_secs_f64())
            }
            Exit::Silent(limit) => {
                format!("the kernel hung: it said nothing for {} s", limit.as_secs_f64())
            }
            Exit::Refused(line) => format!("QEMU refused the machine: {line}"),
        }
    }

    /// The launcher's exit code: 0, 1 when the kernel failed, 2 when the machine cannot be.
    pub fn code(&self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure(_) | Exit::Timeout(_) | Exit::Silent(_) => crate::fault::KERNEL_FAILED,
            Exit::Refused(_) => crate::fault::BAD_MACHINE,
        }
    }
}

/// The end of a boot, and what else QEMU had to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// QEMU's own messages, line by line; warnings, where the machine was started.
    pub messages: Vec<String>,
}
