//! The files that `map` is given -> raw tables and regions of memory.

use std::path::Path;

use anyhow::{Context, Result};
use nearmem::topology::Region;

use super::case::Case;
use super::{MapArgs, encode, memory_text};

/// What a node map is built of.
#[derive(Debug, Default)]
pub struct Input {
    /// The whole SRAT; `None` when there is none.
    pub srat: Option<Vec<u8>>,
    /// The whole SLIT; `None` when there is none.
    pub slit: Option<Vec<u8>>,
    /// The firmware's memory map; `None` when it is not known.
    pub regions: Option<Vec<Region>>,
}

impl Input {
    /// Reads a case, and files that take the place of its parts.
    ///
    /// # Errors
    /// A file cannot be read, or is not what it should be.
    pub fn load(args: &MapArgs) -> Result<Input> {
        let mut input = match &args.case {
            Some(case) => Input::of_case(case)?,
            None => Input::default(),
        };
        if let Some(path) = &args.srat {
            input.srat = Some(read(path)?);
        }
        if let Some(path) = &args.slit {
            input.slit = Some(read(path)?);
        }
        if let Some(path) = &args.memory_map {
            let text = String::from_utf8_lossy(&read(path)?).into_owned();
            let regions = memory_text::parse(&text).with_context(|| path.display().to_string())?;
            input.regions = Some(regions);
        }
        Ok(input)
    }

    /// Reads a case. Raw tables beside it win over its entries.
    ///
    /// # Errors
    /// The case or a table cannot be read, or a table cannot be made of its entries.
    pub fn of_case(path: &Path) -> Result<Input> {
        let text = String::from_utf8(read(path)?).with_context(|| path.display().to_string())?;
        let case: Case = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let table = |name: &str, made: &dyn Fn() -> Result<Option<Vec<u8>>>| {
            let raw = path.with_extension(format!("{name}.bin"));
            match raw.is_file() {
                true => read(&raw).map(Some),
                false => made().with_context(|| format!("{}: {name}", path.display())),
            }
        };
        Ok(Input {
            srat: table("srat", &|| case.srat.as_ref().map(encode::srat).transpose())?,
            slit: table("slit", &|| case.slit.as_deref().map(encode::slit).transpose())?,
            regions: case.memory_map.map(|regions| regions.iter().map(Region::from).collect()),
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
