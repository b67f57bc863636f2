//! One test for every in-kernel test on every machine file, named `machine::suite::test`, and one
//! per machine for what its boot has to say, `machine::boot_log::as_expected`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};
use nearmem_tests::expectations;
use nearmem_tests::guest::{QemuGuest, Suites, build_suites};
use nearmem_tests::machine_file::{MachineFile, load_all};
use nearmem_tests::session::{self, Job, Session};

/// How many machines boot at a time, unless `--test-threads` is less.
const AT_ONCE: usize = 2;
/// Name of the test that looks at the boot as a whole.
const BOOT_LOG: &str = "boot_log::as_expected";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match prepare(&arguments) {
        Ok((trials, jobs)) => {
            if !arguments.list {
                session::start(jobs, arguments.test_threads.unwrap_or(AT_ONCE).clamp(1, AT_ONCE));
            }
            libtest_mimic::run(&arguments, trials).exit_code()
        }
        Err(why) => {
            eprintln!("machines: {why:#}");
            ExitCode::FAILURE
        }
    }
}

/// All trials, and a job for each machine of which at least one is asked for.
fn prepare(arguments: &Arguments) -> Result<(Vec<Trial>, Vec<Job>)> {
    let suites = build_suites()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("machines");

    let (mut trials, mut jobs) = (Vec::new(), Vec::new());
    for file in load_all(&folder)? {
        let session = Arc::new(Session::default());
        let tests = file.tests(&suites.tests)?;
        let mut machine: Vec<Trial> = Vec::new();
        for test in &tests {
            machine.push(test_trial(&file, test, session.clone()));
        }
        machine.push(boot_log_trial(&file, session.clone()));

        let asked_for: Vec<bool> = machine.iter().map(|t| !arguments.is_filtered_out(t)).collect();
        if asked_for.contains(&true) {
            // The boot log's trial is the last one, and needs a boot, but no test.
            let chosen = tests.into_iter().zip(&asked_for).filter(|&(_, &asked)| asked);
            jobs.push(job(&suites, file, chosen.map(|(test, _)| test).collect(), session));
        }
        trials.append(&mut machine);
    }
    Ok((trials, jobs))
}

fn test_trial(file: &MachineFile, test: &str, session: Arc<Session>) -> Trial {
    let name = test.to_owned();
    Trial::test(format!("{}::{test}", file.name), move || {
        session.outcome(&name).map_err(Failed::from)
    })
}

fn boot_log_trial(file: &MachineFile, session: Arc<Session>) -> Trial {
    let file = file.clone();
    Trial::test(format!("{}::{BOOT_LOG}", file.name), move || {
        expectations::check(&file, &session.summary()?).map_err(Failed::from)
    })
}

fn job(suites: &Suites, file: MachineFile, tests: Vec<String>, session: Arc<Session>) -> Job {
    let suites = suites.clone();
    let guest = move || Ok(Box::new(QemuGuest::new(suites, &file)?) as Box<_>);
    Job { tests, guest: Box::new(guest), session }
}
