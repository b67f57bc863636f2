//! Every target on the inputs that once failed, on the corpus, and on some thousands of random
//! ones: what fuzzing does for hours, for a second, in every run of the tests.

use std::path::{Path, PathBuf};

use nearmem_checks::TARGETS;
use nearmem_checks::likely::table_for;
use nearmem_checks::random::Random;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect()
}

#[test]
fn inputs_that_once_failed_pass() {
    let mut folders: Vec<_> =
        std::fs::read_dir(data("fuzz")).unwrap().map(|f| f.unwrap()).collect();
    folders.retain(|folder| folder.path().is_dir());
    assert!(!folders.is_empty());
    for folder in folders {
        let name = folder.file_name();
        let target = TARGETS.iter().find(|(target, _)| *target == name);
        let (_, check) = target.unwrap_or_else(|| panic!("{name:?} is no target"));
        for file in files(&folder.path()) {
            println!("{}", file.display());
            check(&std::fs::read(&file).unwrap());
        }
    }
}

#[test]
fn the_corpus_and_what_is_near_it_pass() {
    let mut random = Random::new(1);
    let mut tables = 0;
    for file in files(&data("corpus")) {
        let bytes = std::fs::read(&file).unwrap();
        let name = file.to_string_lossy().into_owned();
        for (target, check) in
            TARGETS.iter().filter(|(target, _)| name.contains(&format!(".{target}.")))
        {
            println!("{target}: {name}");
            check(&bytes);
            (0..200).for_each(|_| check(&random.mutated(&bytes)));
            tables += 1;
        }
    }
    assert!(tables >= 20, "{tables} tables");
}

#[test]
fn random_bytes_and_likely_tables_pass() {
    for (number, (target, check)) in TARGETS.iter().enumerate() {
        let mut random = Random::new(number as u64 + 2);
        println!("{target}");
        for _ in 0..2000 {
            let length = random.below(1200);
            check(&random.bytes(length));
            if let Some(table) = table_for(target, &mut random) {
                check(&table);
                check(&random.mutated(&table));
            }
        }
    }
}
