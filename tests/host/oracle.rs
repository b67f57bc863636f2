//! One test per machine that Linux was booted on (`tests/data/oracle`), named `oracle::machine`:
//! our kernel has to make the same node map, zones, fallback orders and hash tables of it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use libtest_mimic::{Arguments, Failed, Trial};
use nearmem_boot::{build, setup};
use nearmem_tests::oracle_case::{self, Case};

/// QEMU and the kernel, built when the first test asks for them.
static KERNEL: LazyLock<Result<(PathBuf, PathBuf), String>> = LazyLock::new(|| {
    let tools = setup::ensure().map_err(|why| format!("{why:#}"))?;
    let elf = build::kernel(&tools.toolchain).map_err(|why| format!("{why:#}"))?;
    Ok((tools.qemu, elf))
});

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/oracle");
    match oracle_case::load_all(&folder) {
        Ok(cases) => {
            let trial =
                |case: Case| Trial::test(format!("oracle::{}", case.name), move || check(&case));
            libtest_mimic::run(&arguments, cases.into_iter().map(trial).collect()).exit_code()
        }
        Err(why) => {
            eprintln!("oracle: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn check(case: &Case) -> Result<(), Failed> {
    let (qemu, kernel) = KERNEL.as_ref()?;
    let ours = case.ours(qemu, kernel).map_err(|why| format!("{why:#}"))?;
    let linux = case.linux().map_err(|why| format!("{why:#}"))?;
    let differences = oracle_case::differences(&ours, &linux);
    match differences.is_empty() {
        true => Ok(()),
        false => Err(differences.join("\n").into()),
    }
}
