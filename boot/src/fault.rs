//! Whose fault it is: the exit code that an error leads to.

use std::error::Error;
use std::fmt;

/// Exit code when the kernel, the build or the set-up failed.
pub const KERNEL_FAILED: u8 = 1;

/// Exit code when the machine, the case or the command line asked for cannot be.
pub const BAD_MACHINE: u8 = 2;

/// The machine, case or option that was asked for is at fault: exit code [`BAD_MACHINE`].
///
/// Every other error ends the launcher with [`KERNEL_FAILED`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadMachine(pub String);

impl fmt::Display for BadMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BadMachine {}

/// An error with exit code [`BAD_MACHINE`] and the given text.
pub fn bad_machine(text: impl Into<String>) -> anyhow::Error {
    BadMachine(text.into()).into()
}

/// The exit code that an error leads to.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    match error.is::<BadMachine>() {
        true => BAD_MACHINE,
        false => KERNEL_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_bad_machine_is_two_with_context_too() {
        let plain: anyhow::Result<()> = Err(bad_machine("0 nodes"));
        let error = plain.context("case.json").unwrap_err();
        assert_eq!(exit_code(&error), BAD_MACHINE);
        assert_eq!(format!("{error:#}"), "case.json: 0 nodes");
    }

    #[test]
    fn anything_else_is_one() {
        assert_eq!(exit_code(&anyhow::anyhow!("no disk")), KERNEL_FAILED);
    }
}
