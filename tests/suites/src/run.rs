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

/// Runs what `selected` names, comma-separated and in that order: `suite::name`, or `suite::*` for
/// a whole suite. All tests when there is no selection. A name that is not registered fails.
/// Returns whether all passed; a test that fails does not return.
pub fn run(kernel: &Kernel, selected: Option<&str>) -> bool {
    let mut all_known = true;
    match selected {
        None => tests().iter().for_each(|test| run_one(test, kernel)),
        Some(NO_TEST) => {}
        Some(list) => {
            for name in list.split(',') {
                let mut known = false;
                for test in tests().iter().filter(|test| matches(name, test.name())) {
                    known = true;
                    run_one(test, kernel);
                }
                if !known {
                    event("fail", name, Some(&"no test has this name"));
                }
                all_known &= known;
            }
        }
    }
    all_known
}

/// Whether a word of the selection means this test.
fn matches(word: &str, name: &str) -> bool {
    match word.strip_suffix('*') {
        Some(suite) => name.starts_with(suite),
        None => name == word,
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
