//! What one virtual CPU counted, and how it is written down.
//!
//! The file is text, a record a line, numbers in decimal but for addresses, which are hexadecimal:
//!
//! ```text
//! nearmem-locality 1
//! region VCPU REGION ENTERED INSTRUCTIONS LOST
//! access VCPU REGION PC ADDRESS LOADS STORES
//! stray VCPU MARKERS
//! ```
//!
//! `ADDRESS` is the guest's virtual address rounded down to 8 bytes, `PC` that of the instruction.
//! `LOST` are accesses that found no room. `MARKERS` are those that fitted no open region.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};

/// The first line of the file.
pub const HEADER: &str = "nearmem-locality 1";

/// How many different pairs of instruction and address one virtual CPU keeps: some 200 MiB.
const MOST_ACCESSES: usize = 4 << 20;

/// Addresses are counted by words of so many bytes.
const WORD: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Access {
    region: u8,
    pc: u64,
    word: u64,
}

#[derive(Clone, Copy, Default)]
struct Times {
    loads: u64,
    stores: u64,
}

#[derive(Clone, Copy, Default)]
struct Region {
    entered: u64,
    instructions: u64,
    lost: u64,
}

/// The counts of one virtual CPU.
#[derive(Default)]
pub struct Counts {
    regions: BTreeMap<u8, Region>,
    accesses: HashMap<Access, Times>,
    stray: u64,
}

impl Counts {
    /// A region opens.
    pub fn enter(&mut self, region: u8) {
        self.regions.entry(region).or_default().entered += 1;
    }

    /// A marker that fits no open region: an end without its begin, a begin within a region.
    pub fn stray(&mut self) {
        self.stray += 1;
    }

    /// An instruction in a region.
    pub fn instruction(&mut self, region: u8) {
        self.regions.entry(region).or_default().instructions += 1;
    }

    /// An access in a region, by the instruction at `pc`.
    pub fn access(&mut self, region: u8, pc: u64, address: u64, store: bool) {
        let access = Access { region, pc, word: address & !(WORD - 1) };
        if self.accesses.len() >= MOST_ACCESSES && !self.accesses.contains_key(&access) {
            self.regions.entry(region).or_default().lost += 1;
            return;
        }
        let times = self.accesses.entry(access).or_default();
        match store {
            true => times.stores += 1,
            false => times.loads += 1,
        }
    }

    /// Writes its lines, as those of `vcpu`, sorted.
    pub fn write(&self, vcpu: usize, out: &mut dyn Write) -> fmt::Result {
        for (region, Region { entered, instructions, lost }) in &self.regions {
            writeln!(out, "region {vcpu} {region} {entered} {instructions} {lost}")?;
        }
        let mut accesses: Vec<_> = self.accesses.iter().collect();
        accesses.sort_unstable_by_key(|&(access, _)| *access);
        for (Access { region, pc, word }, Times { loads, stores }) in accesses {
            writeln!(out, "access {vcpu} {region} {pc:x} {word:x} {loads} {stores}")?;
        }
        if self.stray > 0 {
            writeln!(out, "stray {vcpu} {}", self.stray)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_instructions_are_told_apart() {
        let mut counts = Counts::default();
        counts.enter(3);
        for _ in 0..5 {
            counts.instruction(3);
        }
        counts.access(3, 0x10, 0x1007, false);
        counts.access(3, 0x10, 0x1000, true);
        counts.access(3, 0x10, 0x1008, true);
        counts.access(3, 0x12, 0x1000, false);
        counts.stray();
        let mut text = String::new();
        counts.write(2, &mut text).unwrap();
        let lines = [
            "region 2 3 1 5 0",
            "access 2 3 10 1000 1 1",
            "access 2 3 10 1008 0 1",
            "access 2 3 12 1000 1 0",
            "stray 2 1\n",
        ];
        assert_eq!(text, lines.join("\n"));
    }
}
