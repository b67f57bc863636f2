//! The file that the plugin leaves behind; the plugin's module `counts` says what it looks like.

use anyhow::{Context, Result, bail, ensure};

/// The version of the file that is understood here.
const HEADER: &str = "nearmem-locality 1";

/// All that the plugin counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// One for each virtual CPU and region that it was in.
    pub regions: Vec<Region>,
    /// By virtual CPU, region, instruction and address.
    pub accesses: Vec<Access>,
    /// Marks that fitted no open region.
    pub strays: u64,
}

/// What one virtual CPU did in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The virtual CPU.
    pub vcpu: u32,
    /// The region's number.
    pub region: u8,
    /// How often it was entered.
    pub entered: u64,
    /// Instructions executed in it; a round of a repeated string instruction is one.
    pub instructions: u64,
    /// Accesses that found no room in the plugin, and so are not among the others.
    pub lost: u64,
}

/// Accesses of one instruction to one word of 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The virtual CPU.
    pub vcpu: u32,
    /// The region's number.
    pub region: u8,
    /// The instruction's virtual address.
    pub pc: u64,
    /// The word's virtual address.
    pub address: u64,
    /// How many loads.
    pub loads: u64,
    /// How many stores.
    pub stores: u64,
}

/// Reads the file.
///
/// # Errors
/// It is of another version, or a line is not as agreed; the text has the line.
pub fn parse(text: &str) -> Result<Counts> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    ensure!(header == HEADER, "the plugin's file begins with {header:?}, expected {HEADER:?}");
    let mut counts = Counts::default();
    for line in lines {
        add(&mut counts, line).with_context(|| format!("the plugin's line {line:?}"))?;
    }
    Ok(counts)
}

fn add(counts: &mut Counts, line: &str) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    let address = |word: &str| u64::from_str_radix(word, 16);
    match words[..] {
        ["region", vcpu, region, entered, instructions, lost] => counts.regions.push(Region {
            vcpu: vcpu.parse()?,
            region: region.parse()?,
            entered: entered.parse()?,
            instructions: instructions.parse()?,
            lost: lost.parse()?,
        }),
        ["access", vcpu, region, pc, word, loads, stores] => counts.accesses.push(Access {
            vcpu: vcpu.parse()?,
            region: region.parse()?,
            pc: address(pc)?,
            address: address(word)?,
            loads: loads.parse()?,
            stores: stores.parse()?,
        }),
        ["stray", _, markers] => {
            counts.strays = counts.strays.saturating_add(markers.parse()?);
        }
        _ => bail!("no record of this kind"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file() {
        let text = "nearmem-locality 1\nregion 0 13 1 5000 2\n\
                    access 0 13 ffffffff81000010 ffff888001000008 3 4\nstray 0 1\nstray 1 2\n";
        let counts = parse(text).unwrap();
        let region = Region { vcpu: 0, region: 13, entered: 1, instructions: 5000, lost: 2 };
        let (pc, address) = (0xffff_ffff_8100_0010, 0xffff_8880_0100_0008);
        let access = Access { vcpu: 0, region: 13, pc, address, loads: 3, stores: 4 };
        assert_eq!(counts, Counts { regions: vec![region], accesses: vec![access], strays: 3 });
    }

    #[test]
    fn what_is_not_as_agreed() {
        for (text, said) in [
            ("", "begins with \"\""),
            ("nearmem-locality 2\n", "begins with \"nearmem-locality 2\""),
            ("nearmem-locality 1\nregion 0 1 2\n", "\"region 0 1 2\""),
            ("nearmem-locality 1\nregion 0 256 1 1 0\n", "number too large"),
            ("nearmem-locality 1\naccess 0 1 xyz 10 1 1\n", "invalid digit"),
            ("nearmem-locality 1\nother\n", "no record of this kind"),
        ] {
            let error = format!("{:#}", parse(text).expect_err(text));
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
