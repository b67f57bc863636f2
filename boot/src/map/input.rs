//! The files that `map` is given -> raw tables, regions of memory, options.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use nearmem::finding::{Finding, Kind, Place};
use nearmem::topology::Region;
use serde_json::Value;

use super::acpidump::{self, DumpedTable};
use super::args::MapArgs;
use super::case::Case;
use super::memory::{self, MemoryText};
use super::source::Source;
use super::tables::{RawTable, Tables, Which};
use super::{encode, raw};

/// What a node map is built of.
#[derive(Debug, Default)]
pub struct Input {
    /// The tables.
    pub tables: Tables,
    /// The firmware's memory map; `None` when it is not known.
    pub memory: Option<InputMemory>,
    /// The kernel's options that count here, as its command line.
    pub words: String,
    /// What was noteworthy about the files, a line each; nothing of it is the firmware's fault.
    pub remarks: Vec<String>,
    /// What is wrong with the set of tables.
    pub findings: Vec<Finding>,
}

/// A memory map and where it comes from.
#[derive(Debug, Clone)]
pub struct InputMemory {
    /// As it was read: not sorted, overlapping.
    pub regions: Vec<Region>,
    /// As `/proc/iomem in file.txt`.
    pub from: String,
}

impl Input {
    /// Reads all files that are named.
    ///
    /// # Errors
    /// A file cannot be read, or is not what it should be.
    pub fn load(args: &MapArgs) -> Result<Input> {
        let mut input = Input { words: args.kernel_words(), ..Input::default() };
        if let Some(path) = &args.acpidump {
            let source = Source::read(path)?;
            let tables = acpidump::parse(&source.text());
            ensure!(
                !tables.is_empty(),
                "{}: no dump, since no line of it begins a table, as `SRAT @ 0x7FE2166A` does: \
                 make one with `sudo acpidump > FILE`",
                source.name
            );
            input.add_dump(&source.name, tables);
        }
        for path in &args.files {
            input.add(path)?;
        }
        let named = [&args.srat, &args.slit, &args.hmat, &args.madt, &args.cedt];
        for (which, path) in Which::ALL.into_iter().zip(named) {
            if let Some(path) = path {
                input.tables.set(which, raw::table(which, Source::read(path)?));
            }
        }
        if let Some(path) = &args.memory_map {
            let source = Source::read(path)?;
            let found = memory::parse(&source.text()).context(source.name.clone())?;
            input.memory = None;
            input.add_memory(&source.name, found);
        }
        Ok(input)
    }

    /// Reads a case. Raw tables beside it win over its entries.
    ///
    /// # Errors
    /// The case or a table cannot be read, or a table cannot be made of its entries.
    pub fn of_case(path: &Path) -> Result<Input> {
        let mut input = Input::default();
        input.add_case(path, &Source::read(path)?)?;
        Ok(input)
    }

    /// Reads a file, or a folder of tables, that says itself what it is.
    fn add(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            for (which, table) in raw::folder(path)? {
                self.offer(which, table);
            }
            return Ok(());
        }
        let source = Source::read(path)?;
        if let Some(signature) = raw::signature(&source.bytes) {
            match Which::of(&signature) {
                Some(which) => self.offer(which, raw::table(which, source)),
                None => self.remarks.push(format!(
                    "{}: a table {signature} says nothing about nodes: passed over",
                    source.name
                )),
            }
            return Ok(());
        }
        let text = source.text();
        if text.trim_start().starts_with('{') {
            return self.add_case(path, &source);
        }
        let tables = acpidump::parse(&text);
        let dump = !tables.is_empty();
        self.add_dump(&source.name, tables);
        match memory::of_text(&text).context(source.name.clone())? {
            Some(found) => self.add_memory(&source.name, found),
            None if dump => {}
            None => {
                let found = memory::parse(&text).with_context(|| {
                    format!("{}: no raw table, no text of acpidump, no case", source.name)
                })?;
                self.add_memory(&source.name, found);
            }
        }
        Ok(())
    }

    fn add_case(&mut self, path: &Path, source: &Source) -> Result<()> {
        let name = &source.name;
        let value: Value = serde_json::from_str(&source.text()).with_context(|| name.clone())?;
        if ["memory_map", "srat", "slit"].iter().all(|member| value.get(member).is_none()) {
            bail!("{name}: no case: it has no member memory_map, srat or slit");
        }
        let case: Case = serde_json::from_value(value).with_context(|| name.clone())?;
        let srat = || case.srat.as_ref().map(encode::srat).transpose();
        self.add_case_table(path, name, Which::Srat, &srat)?;
        let slit = || case.slit.as_deref().map(encode::slit).transpose();
        self.add_case_table(path, name, Which::Slit, &slit)?;
        if let Some(regions) = case.memory_map {
            let regions = regions.iter().map(Region::from).collect();
            self.add_memory(name, MemoryText { regions, form: "a case", remarks: Vec::new() });
        }
        Ok(())
    }

    /// Takes the table beside a case, or the one that is made of its entries.
    fn add_case_table(
        &mut self,
        path: &Path,
        name: &str,
        which: Which,
        make: &dyn Fn() -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let lower = which.signature().to_lowercase();
        let beside = path.with_extension(format!("{lower}.bin"));
        if beside.is_file() {
            self.offer(which, raw::table(which, Source::read(&beside)?));
        } else if let Some(bytes) = make().with_context(|| format!("{name}: {lower}"))? {
            self.offer(which, RawTable { bytes, from: name.to_owned(), address: None });
        }
        Ok(())
    }

    /// Takes a dump's tables: of several of one kind the first, as an operating system does.
    fn add_dump(&mut self, from: &str, tables: Vec<DumpedTable>) {
        let mut seen = Vec::new();
        for table in tables {
            let DumpedTable { signature, address, bytes, jumps_to } = table;
            let Some(which) = Which::of(&signature) else { continue };
            if let Some(offset) = jumps_to {
                self.remarks.push(format!(
                    "{from}: {signature}: {} bytes are read: the next line is of offset \
                     {offset:#x}, so lines are missing",
                    bytes.len()
                ));
            }
            if bytes.is_empty() {
                self.remarks.push(format!("{from}: {signature}: there are no bytes: passed over"));
            } else if seen.contains(&which) {
                let place = Place::table(which.signature());
                self.findings.push(Finding::at(place, Kind::TableDuplicate { address }));
            } else {
                seen.push(which);
                let table = RawTable { bytes, from: from.to_owned(), address: Some(address) };
                self.offer(which, table);
            }
        }
    }

    fn offer(&mut self, which: Which, table: RawTable) {
        let from = table.from.clone();
        if !self.tables.offer(which, table) {
            let first = self.tables.get(which).map_or("", |table| &table.from);
            let signature = which.signature();
            self.remarks.push(format!("{from}: its {signature} is not used: {first} has one"));
        }
    }

    pub(super) fn add_memory(&mut self, name: &str, found: MemoryText) {
        let MemoryText { regions, form, remarks } = found;
        if let Some(memory) = &self.memory {
            let first = &memory.from;
            self.remarks.push(format!("{name}: its memory map is not used: {first} counts"));
            return;
        }
        self.remarks.extend(remarks.into_iter().map(|remark| format!("{name}: {remark}")));
        self.memory = Some(InputMemory { regions, from: format!("{form} in {name}") });
    }
}
