//! What the runner reads of a machine file, beside what the launcher reads: which in-kernel tests
//! run there, and what the boot has to say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A machine file, as far as the runner is concerned.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MachineFile {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
    /// Suites that run on this machine; all when it is left out.
    pub suites: Option<Vec<String>>,
    /// Tests, `suite::name`, that do not: what they test is not there.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Names of the warnings among this boot's findings: these, and no others.
    #[serde(default)]
    pub expect_findings: Vec<String>,
    /// Texts that the boot log has to contain.
    #[serde(default)]
    pub expect_log: Vec<String>,
}

impl MachineFile {
    /// Reads one file.
    pub fn load(path: &Path) -> Result<MachineFile> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let mut file: MachineFile = toml::from_str(&text).with_context(|| format!("{shown}"))?;
        file.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        file.path = path.to_owned();
        Ok(file)
    }

    /// The tests of `all` that run on this machine. An error when the file names a suite or a test
    /// that there is not.
    pub fn tests(&self, all: &[String]) -> Result<Vec<String>> {
        let suite = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
        let suites: BTreeSet<String> = all.iter().map(|name| suite(name)).collect();
        let wanted = match &self.suites {
            Some(wanted) => wanted.iter().cloned().collect(),
            None => suites.clone(),
        };
        if let Some(unknown) = wanted.difference(&suites).next() {
            anyhow::bail!("{}: there is no suite {unknown}", self.path.display());
        }
        for name in &self.skip {
            ensure!(all.contains(name), "{}: there is no test {name}", self.path.display());
        }
        let runs = |name: &&String| wanted.contains(&suite(name)) && !self.skip.contains(name);
        Ok(all.iter().filter(runs).cloned().collect())
    }
}

/// All machine files of a folder, by name.
pub fn load_all(folder: &Path) -> Result<Vec<MachineFile>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    ensure!(!paths.is_empty(), "{} has no machine file", folder.display());
    paths.iter().map(|path| MachineFile::load(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn suites_and_skip_choose_the_tests() {
        let all = names(&["a::one", "a::two", "b::one"]);
        let mut file = MachineFile::default();
        assert_eq!(file.tests(&all).unwrap(), all);
        file.suites = Some(names(&["a"]));
        file.skip = names(&["a::one"]);
        assert_eq!(file.tests(&all).unwrap(), ["a::two"]);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let all = names(&["a::one"]);
        let with_suite = MachineFile { suites: Some(names(&["b"])), ..Default::default() };
        let with_skip = MachineFile { skip: names(&["a::two"]), ..Default::default() };
        assert!(with_suite.tests(&all).is_err());
        assert!(with_skip.tests(&all).is_err());
    }
}
