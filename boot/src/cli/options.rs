//! Options that several commands have.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::machine::{Machine, size};
use crate::qemu::{Accel, BootRequest};

/// How to run QEMU.
#[derive(Debug, Clone, Args)]
pub struct QemuOptions {
    /// What executes the guest
    #[arg(long, value_enum, default_value_t)]
    pub accel: Accel,
    /// End the guest after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub timeout: Duration,
}

impl QemuOptions {
    /// A boot with these options.
    pub fn request<'a>(
        &self,
        qemu: &'a Path,
        elf: &'a Path,
        machine: &'a Machine,
    ) -> BootRequest<'a> {
        BootRequest {
            accel: self.accel,
            timeout: self.timeout,
            ..BootRequest::new(qemu, elf, machine)
        }
    }
}

/// The first seed's box, or one of other nodes, or of other memory.
#[derive(Debug, Clone, Args)]
pub struct BoxOptions {
    /// Memory nodes [default: 8, as the first seed's box]
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// Memory of all nodes together [default: 3407488K for each node]
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<String>,
    /// More words for the kernel's command line, as "pageset=zone dhash_entries=65536"
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    append: Vec<String>,
}

impl BoxOptions {
    /// The memory in bytes, if any is named.
    pub fn memory(&self) -> Result<Option<u64>> {
        self.mem.as_deref().map(size::parse).transpose()
    }

    /// Adds the words to the machine's command line.
    pub fn append_to(&self, machine: &mut Machine) {
        self.append.iter().for_each(|words| machine.add_append(words));
    }

    /// Whether it is the seed's box.
    pub fn is_default(&self) -> bool {
        self.nodes.is_none() && self.mem.is_none()
    }
}

/// A time limit that no clock's arithmetic minds: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a positive number of seconds, fractions too.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number)
        .ok()
        .filter(|limit| !limit.is_zero() && *limit <= LONGEST)
        .ok_or_else(|| "expected a positive number of seconds, a year at most".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_positive() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "inf", "NaN", "1e300", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
