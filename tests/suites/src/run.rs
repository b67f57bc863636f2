//! Runs what `test=` names, and reports.

use core::fmt::{Display, Write};
use core::panic::PanicInfo;

use nearmem_kernel::Kernel;
use nearmem_x86_64::{println, serial};
use spin::Mutex;

use crate::json::Quoted;
use crate::registry::{Test, tests};

/// Which test runs now.
static CURRENT: Mutex<Option<&'static str>> = Mutex::new(None);

/// Value of `test=` that runs no test: for a boot that is to be looked at only.
const NO_TEST: &str = "-";

/// Runs the tests that `selected` names, comma-separated and in that order; all of them when there
/// is no selection. A name that is not registered fails. Returns whether all passed; a test that
/// fails does not return.
pub fn run(kernel: &Kernel, selected: Option<&str>) -> bool {
    match selected {
        None => {
            tests().iter().for_each(|test| run_one(test, kernel));
            true
        }
        Some(NO_TEST) => true,
        Some(list) => {
            let mut all_known = true;
            for name in list.split(',') {
                match tests().iter().find(|test| test.name() == name) {
                    Some(test) => run_one(test, kernel),
                    None => {
                        all_known = false;
                        event("fail", name, Some(&"no test has this name"));
                    }
                }
            }
            all_known
        }
    }
}

fn run_one(test: &'static Test, kernel: &Kernel) {
    *CURRENT.lock() = Some(test.name());
    event("start", test.name(), None);
    test.run(kernel);
    event("pass", test.name(), None);
    *CURRENT.lock() = None;
}

/// For the panic handler, after [`nearmem_kernel::panic::report`]: when a test runs, reports that it
/// failed, with file, line and message. Needs no heap.
pub fn report_failure(info: &PanicInfo<'_>) {
    // The lock is never held while a test runs.
    let current = CURRENT.try_lock().and_then(|current| *current);
    if let Some(name) = current {
        event("fail", name, Some(info));
    }
}

fn event(event: &str, name: &str, message: Option<&dyn Display>) {
    println!("test {name}: {event}");
    let mut out = serial::facts();
    // The port cannot fail.
    let _ = write!(out, r#"{{"type":"test","event":"{event}","name":{}"#, Quoted(name));
    if let Some(message) = message {
        let _ = write!(out, r#","message":{}"#, Quoted(message));
    }
    let _ = writeln!(out, "}}");
}
