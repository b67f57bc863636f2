//! Puts billions of random or mutated bytes through all targets:
//! `cargo run --profile kernel -p nearmem-checks --example flood -- BYTES [SEED]`.
//!
//! Inputs are random bytes, and likely tables, the corpus and what fuzzing found, mutated. A line
//! a target comes out: bytes, inputs, seconds. The input of a panic is left in a file.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nearmem_checks::likely::table_for;
use nearmem_checks::random::Random;
use nearmem_checks::{TARGETS, Target};

/// What one target was given.
#[derive(Clone, Copy, Default)]
struct Given {
    bytes: u64,
    inputs: u64,
    seconds: f64,
}

thread_local! {
    /// The input that is being looked at.
    static LAST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn main() -> std::io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (Some(Ok(bytes)), Ok(seed)) = (numbers.next(), numbers.next().unwrap_or(Ok(1))) else {
        eprintln!("flood BYTES [SEED]");
        std::process::exit(2);
    };
    keep_failures();
    let share = bytes.div_ceil(TARGETS.len() as u64);
    let mut all = Given::default();
    for &target in TARGETS {
        let (name, _) = target;
        let seeds = seeds(name)?;
        println!("{name}: {} seeds", seeds.len());
        let given = flood(target, &seeds, share, &mut Random::new(seed));
        report(name, given)?;
        all.bytes += given.bytes;
        all.inputs += given.inputs;
        all.seconds += given.seconds;
    }
    report("all", all)
}

/// Gives one target its share.
fn flood((target, check): Target, seeds: &[Vec<u8>], share: u64, random: &mut Random) -> Given {
    let start = Instant::now();
    let mut given = Given::default();
    while given.bytes < share {
        let input = input(target, seeds, random);
        given.bytes += input.len() as u64;
        given.inputs += 1;
        LAST.with_borrow_mut(|last| last.clone_from(&input));
        check(&input);
    }
    given.seconds = start.elapsed().as_secs_f64();
    given
}

/// Leaves the input of a panic in a file. The kernel's profile does not unwind.
fn keep_failures() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        let file = std::env::temp_dir().join("nearmem-flood-failure");
        let input = LAST.with_borrow(Vec::clone);
        match std::fs::write(&file, input) {
            Ok(()) => eprintln!("the input is in {}", file.display()),
            Err(error) => eprintln!("the input cannot be kept: {error}"),
        }
    }));
}

/// One in four is random from end to end; the others were a seed or a likely table.
fn input(target: &str, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    if random.below(4) > 0 {
        let likely = (random.below(2) == 0).then(|| table_for(target, random)).flatten();
        if let Some(table) = likely {
            return random.mutated(&table);
        }
        if !seeds.is_empty() {
            let seed = random.below(seeds.len());
            return random.mutated(&seeds[seed]);
        }
    }
    let length = 1 + random.below(2000);
    random.bytes(length)
}

/// The corpus's tables for a target, and the inputs that once failed there.
fn seeds(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
    let tables = files(&data.join("corpus"))?;
    let ending = format!(".{target}.bin");
    let tables = tables.into_iter().filter(|path| path.to_string_lossy().ends_with(&ending));
    let failures = files(&data.join("fuzz").join(target))?;
    // What `fuzz/seed.sh` and libFuzzer left there.
    let corpus = files(&data.join("../../fuzz/corpus").join(target))?;
    tables.chain(failures).chain(corpus).map(std::fs::read).collect()
}

/// The files of a folder, in order; none where there is no such folder.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for file in std::fs::read_dir(folder)? {
        files.push(file?.path());
    }
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

fn report(name: &str, given: Given) -> std::io::Result<()> {
    let Given { bytes, inputs, seconds } = given;
    let rate = bytes as f64 / 1e6 / seconds;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{name:<14} {bytes:>12} bytes {inputs:>10} inputs {seconds:>7.0} s {rate:>6.1} MB/s"
    )?;
    out.flush()
}
