//! The kernel command line: text in, options and complaints out.
//!
//! A word that is not understood is named, and so is a value that is wrong, with what is expected
//! instead; the default is used then. Nothing on a command line stops a boot.
#![forbid(unsafe_code)]

mod memory;
mod numa;
mod words;

use core::fmt;

use crate::alloc::{self, PagesetPlacement};
use crate::hash::HashOptions;
use crate::topology::{FakeNodes, NumaOption};
use numa::Numa;

pub use memory::UserMap;
pub use words::{Word, number, size, words};

/// What a command line can choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// `hashdist=` and the sizes of the hash tables.
    pub hash: HashOptions,
    /// `pageset=`, `min_free_kbytes=`, `watermark_scale_factor=`.
    pub alloc: alloc::Options,
    /// `numa=off` and `numa=noacpi`.
    pub numa: NumaOption,
    /// `numa=nohmat`: the HMAT does not count.
    pub no_hmat: bool,
    /// `numa=fake=`.
    pub fake: Option<FakeNodes<'a>>,
    /// `memmap=` and `mem=`: what to change in the memory map.
    pub user_map: UserMap<'a>,
    /// `maxcpus=`: how many CPUs are started at boot, the boot CPU among them; all when it is left
    /// out.
    pub max_cpus: Option<u64>,
    /// `acpi_patch=`: bytes of firmware tables to overwrite before they are read (a test option).
    pub acpi_patch: Option<&'a str>,
    /// `test=`: the in-kernel tests to run.
    pub test: Option<&'a str>,
    /// `bench=`: the benchmarks to run, `all` or names separated by commas.
    pub bench: Option<&'a str>,
    /// `locality=`: what to do for the locality meter.
    pub locality: Option<Locality>,
}

/// What a kernel does for the launcher's locality meter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locality {
    /// `layout`: says where things lie in memory, for regions that are marked elsewhere.
    Layout,
    /// `pairs`: pairs of an allocation and a free between marks, and then the same.
    Pairs,
}

/// A word of the command line that had no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Complaint<'a> {
    /// The word.
    pub word: Word<'a>,
    /// What would have been right; `None` when the option's name is unknown.
    pub expected: Option<&'static str>,
}

/// The name that `map` and the facts give to an option that is unknown.
pub const UNKNOWN_OPTION: &str = "cmdline-unknown-option";
/// The name that `map` and the facts give to a value that is wrong.
pub const BAD_VALUE: &str = "cmdline-bad-value";

impl Complaint<'_> {
    /// The kind's name: [`UNKNOWN_OPTION`] or [`BAD_VALUE`].
    pub fn kind(&self) -> &'static str {
        match self.expected {
            None => UNKNOWN_OPTION,
            Some(_) => BAD_VALUE,
        }
    }
}

/// One line, whatever stands on the command line.
impl fmt::Display for Complaint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command line: {}", printable(self.word.name))?;
        if let Some(value) = self.word.value {
            write!(f, "={}", printable(value))?;
        }
        match self.expected {
            None => write!(f, ": unknown option; ignored"),
            Some(expected) => write!(f, ": expected {expected}; the default is used"),
        }
    }
}

/// Text with its control characters escaped, so that none of them reaches a terminal.
pub fn printable(text: &str) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| {
        text.chars().try_for_each(|letter| match letter.is_control() {
            true => write!(f, "{}", letter.escape_default()),
            false => write!(f, "{letter}"),
        })
    })
}

/// Reads a command line. The last of several words with one name counts, as in Linux; those of the
/// memory map and of `numa=` count together.
pub fn parse<'a>(line: &'a str, complain: &mut dyn FnMut(Complaint<'a>)) -> Options<'a> {
    let mut options = Options { user_map: UserMap::new(line), ..Options::default() };
    for word in words(line) {
        if memory::is_name(word.name) {
            for (word, expected) in memory::faults(word) {
                complain(Complaint { word, expected: Some(expected) });
            }
            continue;
        }
        match set(&mut options, word) {
            Ok(()) => {}
            Err(Wrong::Name) => complain(Complaint { word, expected: None }),
            Err(Wrong::Value(expected)) => complain(Complaint { word, expected: Some(expected) }),
        }
    }
    options
}

enum Wrong {
    Name,
    Value(&'static str),
}

fn set<'a>(options: &mut Options<'a>, word: Word<'a>) -> Result<(), Wrong> {
    const ENTRIES: &str = "a number of entries";
    const TEXT: &str = "a value";
    let value = word.value.unwrap_or("");
    let entries = || number(value).map(Some).ok_or(Wrong::Value(ENTRIES));
    let text = || if value.is_empty() { Err(Wrong::Value(TEXT)) } else { Ok(Some(value)) };
    match word.name {
        "hashdist" => {
            options.hash.hashdist = Some(number(value).ok_or(Wrong::Value("0 or 1"))? != 0)
        }
        "dhash_entries" => options.hash.dhash_entries = entries()?,
        "ihash_entries" => options.hash.ihash_entries = entries()?,
        "mhash_entries" => options.hash.mhash_entries = entries()?,
        "mphash_entries" => options.hash.mphash_entries = entries()?,
        "thash_entries" => options.hash.thash_entries = entries()?,
        "uhash_entries" => options.hash.uhash_entries = entries()?,
        "pageset" => {
            options.alloc.pagesets = match value {
                "local" => PagesetPlacement::Local,
                "zone" => PagesetPlacement::Zone,
                _ => return Err(Wrong::Value("local or zone")),
            }
        }
        "min_free_kbytes" => {
            options.alloc.min_free_kbytes =
                Some(number(value).ok_or(Wrong::Value("a size in kB"))?);
        }
        "watermark_scale_factor" => {
            let factor = number(value).filter(|factor| (1..=3000).contains(factor));
            let factor = factor.ok_or(Wrong::Value("1 to 3000, in 1/10000 of a zone"))?;
            options.alloc.watermark_scale_factor = Some(factor as u32);
        }
        "numa" => match numa::parse(value).map_err(Wrong::Value)? {
            Numa::Tables(numa) => options.numa = options.numa.max(numa),
            Numa::NoHmat => options.no_hmat = true,
            Numa::Fake(fake) => options.fake = Some(fake),
        },
        "maxcpus" => {
            options.max_cpus = Some(number(value).ok_or(Wrong::Value("a number of CPUs"))?);
        }
        "acpi_patch" => options.acpi_patch = text()?,
        "test" => options.test = text()?,
        "bench" => options.bench = text()?,
        "locality" => {
            options.locality = match value {
                "layout" => Some(Locality::Layout),
                "pairs" => Some(Locality::Pairs),
                _ => return Err(Wrong::Value("layout or pairs")),
            }
        }
        _ => return Err(Wrong::Name),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Split;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn complaints(line: &str) -> Vec<String> {
        let mut all = Vec::new();
        parse(line, &mut |complaint| all.push(complaint.to_string()));
        all
    }

    #[test]
    fn known_options_are_set_and_nothing_is_said() {
        let options = parse(
            "hashdist=0 dhash_entries=0x1000 pageset=zone numa=off min_free_kbytes=128 maxcpus=2",
            &mut |complaint| panic!("{complaint}"),
        );
        assert_eq!(options.hash.hashdist, Some(false));
        assert_eq!(options.hash.dhash_entries, Some(4096));
        assert_eq!(options.alloc.pagesets, PagesetPlacement::Zone);
        assert_eq!(options.alloc.min_free_kbytes, Some(128));
        assert_eq!(options.max_cpus, Some(2));
        assert_eq!(options.numa, NumaOption::Off);
        assert!(!options.no_hmat);
        assert_eq!(options.locality, None);
        let locality = |line| parse(line, &mut |_| ()).locality;
        assert_eq!(locality("locality=pairs"), Some(Locality::Pairs));
        assert_eq!(locality("locality=layout"), Some(Locality::Layout));
    }

    #[test]
    fn wrong_values_are_named_with_what_is_expected_and_change_nothing() {
        assert_eq!(
            complaints("hashdist=x pageset numa=maybe locality=far maxcpus=all"),
            [
                "command line: hashdist=x: expected 0 or 1; the default is used",
                "command line: pageset: expected local or zone; the default is used",
                "command line: numa=maybe: expected off, noacpi, nohmat or fake=; the default is used",
                "command line: locality=far: expected layout or pairs; the default is used",
                "command line: maxcpus=all: expected a number of CPUs; the default is used",
            ]
        );
        assert_eq!(parse("hashdist=x", &mut |_| ()).hash.hashdist, None);
    }

    #[test]
    fn of_a_memory_map_the_wrong_items_are_named_and_the_others_count() {
        let line = "memmap=1G@0,64K$x,exact hashdist=0 mem=lots mem=2G memmap=16M$32M";
        let region = "exactmap, SIZE, SIZE@START, SIZE$START or SIZE#START";
        assert_eq!(
            complaints(line),
            [
                std::format!("command line: memmap=64K$x: expected {region}; the default is used"),
                std::format!("command line: memmap=exact: expected {region}; the default is used"),
                "command line: mem=lots: expected a size above 0, as 512M; the default is used"
                    .to_string(),
            ]
        );
        let options = parse(line, &mut |_| ());
        assert_eq!(options.user_map.changes().count(), 3);
        assert_eq!(options.hash.hashdist, Some(false));
        assert!(parse("hashdist=0 memmap= mem", &mut |_| ()).user_map.is_empty());
    }

    #[test]
    fn a_complaint_is_one_line_without_control_characters() {
        assert_eq!(
            complaints("a\x1b[2J=\"b\nc \u{9b}\u{e4}\""),
            ["command line: a\\u{1b}[2J=b\\nc \\u{9b}\u{e4}: unknown option; ignored"]
        );
    }

    #[test]
    fn words_of_numa_count_together() {
        let read = |line| {
            let options = parse(line, &mut |complaint| panic!("{complaint}"));
            (options.numa, options.fake.map(|fake| fake.split))
        };
        let two = Some(Split::Nodes(2));
        assert_eq!(read("numa=noacpi numa=fake=2"), (NumaOption::NoAcpi, two));
        assert_eq!(read("numa=fake=3 numa=fake=2 numa=off"), (NumaOption::Off, two));
        assert_eq!(read("numa=off numa=noacpi"), (NumaOption::Off, None));
        let options = parse("numa=nohmat numa=off", &mut |complaint| panic!("{complaint}"));
        assert_eq!((options.numa, options.no_hmat), (NumaOption::Off, true));
        let options = parse("numa=fake=2 numa=fake=x", &mut |_| ());
        assert_eq!(options.fake.map(|fake| fake.split), two);
    }

    #[test]
    fn unknown_options_are_named() {
        assert_eq!(complaints("frobnicate"), ["command line: frobnicate: unknown option; ignored"]);
        assert_eq!(
            complaints("quux=7 hashdist=1"),
            ["command line: quux=7: unknown option; ignored"]
        );
    }
}
