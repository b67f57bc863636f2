//! The boots of one machine, on a thread of their own, and the outcomes that others wait for.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::batch::{self, Guest, Outcome, Summary};

/// Outcomes of a machine's tests, as they become known.
#[derive(Debug, Default)]
pub struct MachineRun {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    outcomes: BTreeMap<String, Outcome>,
    /// What the boots had in common; `Err` when they could not be had at all.
    end: Option<Result<Summary, String>>,
}

impl MachineRun {
    /// Waits until a test has ended.
    pub fn outcome(&self, test: &str) -> Outcome {
        let over = |state: &State| state.outcomes.contains_key(test) || state.end.is_some();
        let state = self.wait(over);
        match (state.outcomes.get(test), &state.end) {
            (Some(outcome), _) => outcome.clone(),
            (None, Some(Err(why))) => Err(why.clone()),
            (None, _) => Err("the runner left this test out".into()),
        }
    }

    /// Waits until all tests have ended.
    pub fn summary(&self) -> Result<Summary, String> {
        let state = self.wait(|state| state.end.is_some());
        state.end.clone().unwrap_or_else(|| Err("no boot".into()))
    }

    fn wait(&self, over: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.state();
        let waited = self.changed.wait_while(state, |state| !over(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves outcomes that are whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the run when the thread that fills it is gone, also by a panic: nobody waits for ever.
struct End<'a>(&'a MachineRun);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.end.get_or_insert_with(|| Err("the runner's thread died".into()));
        });
    }
}

/// A machine whose tests are to run.
pub struct Job {
    /// The tests, in order.
    pub tests: Vec<String>,
    /// Makes the guest, just before it boots.
    pub guest: Box<dyn FnOnce() -> anyhow::Result<Box<dyn Guest>> + Send>,
    /// Where the outcomes go.
    pub run: Arc<MachineRun>,
}

impl Job {
    fn run(self) {
        let _end = End(&self.run);
        let end = match (self.guest)() {
            Ok(mut guest) => {
                let mut done = |name: &str, outcome: Outcome| {
                    self.run.change(|state| {
                        state.outcomes.insert(name.to_owned(), outcome);
                    });
                };
                Ok(batch::run(&mut *guest, &self.tests, &mut done))
            }
            Err(why) => Err(format!("{why:#}")),
        };
        self.run.change(|state| state.end = Some(end));
    }
}

/// Runs the jobs in their order, `at_once` at a time, on threads of their own.
pub fn start(jobs: Vec<Job>, at_once: usize) {
    let queue = Arc::new(Mutex::new(VecDeque::from(jobs)));
    let next = |queue: &Mutex<VecDeque<Job>>| {
        queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    };
    for _ in 0..at_once {
        let queue = queue.clone();
        thread::spawn(move || {
            while let Some(job) = next(&queue) {
                // A panic ends this job's run (`End`), not the jobs behind it.
                let _ = panic::catch_unwind(AssertUnwindSafe(|| job.run()));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Booted;
    use crate::events::Event;

    struct Healthy;

    impl Guest for Healthy {
        fn boot(&mut self, tests: &[String], event: &mut dyn FnMut(Event)) -> Booted {
            tests.iter().for_each(|test| event(Event::Pass(test.clone())));
            Booted::default()
        }
    }

    fn job(guest: impl FnOnce() -> anyhow::Result<Box<dyn Guest>> + Send + 'static) -> Job {
        let tests = vec!["a".to_owned(), "b".to_owned()];
        Job { tests, guest: Box::new(guest), run: Arc::default() }
    }

    #[test]
    fn all_who_wait_get_their_outcome() {
        let jobs: Vec<Job> = (0..5).map(|_| job(|| Ok(Box::new(Healthy)))).collect();
        let runs: Vec<_> = jobs.iter().map(|job| job.run.clone()).collect();
        start(jobs, 2);
        for run in runs {
            assert_eq!(run.outcome("b"), Ok(()));
            assert_eq!(run.outcome("a"), Ok(()));
            assert!(run.summary().is_ok());
            assert!(run.outcome("unknown").is_err());
        }
    }

    #[test]
    fn nobody_waits_for_a_guest_that_cannot_be_made() {
        let panics = job(|| panic!("on purpose"));
        let broken = job(|| anyhow::bail!("no machine"));
        let runs = [panics.run.clone(), broken.run.clone()];
        start(vec![panics, broken], 1);
        assert!(runs[0].outcome("a").is_err());
        assert_eq!(runs[1].outcome("a"), Err("no machine".into()));
    }
}
