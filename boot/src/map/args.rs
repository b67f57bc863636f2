//! What `map` is told on its command line.

use std::path::PathBuf;

use nearmem::options;

/// The options of `map`. Any FILE may be `-`, standard input.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct MapArgs {
    /// What there is of a machine, in any order, each recognised by what is in it: the text of
    /// acpidump, raw tables (SRAT, SLIT, HMAT, APIC, CEDT; others are passed over), a folder of raw
    /// tables, a memory map, or a case in JSON with NAME.srat.bin and NAME.slit.bin beside it. The
    /// first of several tables of one kind counts
    #[arg(value_name = "FILE", required_unless_present_any = ["acpidump", "srat"])]
    pub files: Vec<PathBuf>,
    /// The text of acpidump, with all tables of a machine
    #[arg(long, value_name = "FILE")]
    pub acpidump: Option<PathBuf>,
    /// A raw SRAT, header included, as in /sys/firmware/acpi/tables/SRAT. This and the tables below
    /// win over those of other files
    #[arg(long, value_name = "FILE")]
    pub srat: Option<PathBuf>,
    /// A raw SLIT: distances
    #[arg(long, value_name = "FILE")]
    pub slit: Option<PathBuf>,
    /// A raw HMAT: latency and bandwidth
    #[arg(long, value_name = "FILE")]
    pub hmat: Option<PathBuf>,
    /// A raw MADT (its signature is APIC): which CPUs are present
    #[arg(long, value_name = "FILE")]
    pub madt: Option<PathBuf>,
    /// A raw CEDT: windows of CXL memory
    #[arg(long, value_name = "FILE")]
    pub cedt: Option<PathBuf>,
    /// A memory map: the text of /proc/iomem as root reads it, e820 lines of a boot log, or JSON as
    /// in a case. Without one every enabled memory range of the SRAT counts as RAM
    #[arg(long, value_name = "FILE")]
    pub memory_map: Option<PathBuf>,
    /// As the kernel's numa=WORD: off, noacpi, nohmat, fake=...; may be given several times
    #[arg(long, value_name = "WORD", value_parser = numa)]
    pub numa: Vec<String>,
    /// As the kernel's memmap=WORD: exactmap, SIZE@START, SIZE$START, SIZE#START, with commas
    /// between several; may be given several times
    #[arg(long, value_name = "WORD", value_parser = memmap)]
    pub memmap: Vec<String>,
    /// As the kernel's mem=SIZE: no memory at or above this address
    #[arg(long, value_name = "SIZE", value_parser = mem)]
    pub mem: Option<String>,
    /// Write JSON also to a terminal
    #[arg(long)]
    pub json: bool,
    /// Write the report for people also where standard output is no terminal
    #[arg(long, conflicts_with = "json")]
    pub report: bool,
    /// In the report, show every record of the SRAT, and findings of one kind without end
    #[arg(long)]
    pub records: bool,
}

const EXAMPLES: &str = "\
Examples:
  sudo acpidump > dump.txt; sudo cat /proc/iomem > iomem.txt
  cargo run -q -- map dump.txt iomem.txt       a machine's tables and memory
  cargo run -q -- map dump.txt boot.log        memory from the e820 lines of a log
  cargo run -q -- map --srat srat.bin --slit slit.bin     its ranges count as RAM
  cargo run -q -- map *.dat                    what acpidump -b leaves behind
  cargo run -q -- map /sys/firmware/acpi/tables /proc/iomem     this machine
  ssh host sudo acpidump | cargo run -q -- map -          standard input
  cargo run -q -- map dump.txt --numa fake=2U  each node in two
  cargo run -q -- map dump.txt | jq .warnings  JSON for programs

Exit code: 0 when there is a map, also when the tables are so bad that one node gets everything;
1 when an input cannot be read; 2 for a wrong option.";

impl MapArgs {
    /// The options that a kernel has as well, as its command line.
    pub fn kernel_words(&self) -> String {
        let words = |name: &'static str, values: &mut dyn Iterator<Item = &String>| {
            values.map(|value| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let mut all = words("numa", &mut self.numa.iter());
        all.extend(words("memmap", &mut self.memmap.iter()));
        all.extend(words("mem", &mut self.mem.iter()));
        all.join(" ")
    }
}

fn numa(value: &str) -> Result<String, String> {
    checked("numa", value)
}

fn memmap(value: &str) -> Result<String, String> {
    checked("memmap", value)
}

fn mem(value: &str) -> Result<String, String> {
    checked("mem", value)
}

/// The value, if the kernel would take it.
fn checked(name: &str, value: &str) -> Result<String, String> {
    let mut expected = None;
    options::parse(&format!("{name}={value}"), &mut |complaint| expected = complaint.expected);
    match expected {
        Some(expected) => Err(format!("expected {expected}")),
        None if value.contains(char::is_whitespace) => Err("expected one word".to_owned()),
        None => Ok(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_kernels() {
        assert_eq!(numa("fake=2U"), Ok("fake=2U".to_owned()));
        assert!(numa("maybe").unwrap_err().starts_with("expected off, noacpi"));
        assert!(numa("off hashdist=0").is_err());
        assert!(memmap("exactmap,1G@0").is_ok() && memmap("1G@x").is_err());
        assert!(mem("2G").is_ok() && mem("lots").is_err());
    }

    #[test]
    fn kernel_words_are_a_command_line() {
        let args = MapArgs {
            numa: vec!["off".into()],
            memmap: vec!["exactmap".into(), "1G@0".into()],
            ..MapArgs::default()
        };
        assert_eq!(args.kernel_words(), "numa=off memmap=exactmap memmap=1G@0");
    }
}
