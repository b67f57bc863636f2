//! Runs the tests of one machine: one boot for all, and another boot for those that a panic, a
//! failure or a hang left out.
//!
//! The boot itself is the caller's, so that this logic is tested without a guest.

use serde_json::Value;

use crate::events::Event;

/// How a test ended; the text of a failure says why, with the boot log.
pub type Outcome = Result<(), String>;

/// What a guest left behind.
#[derive(Clone, Debug, Default)]
pub struct Booted {
    /// All of COM1.
    pub log: String,
    /// How it ended, in words, when it did not end by itself with exit code 0. In a [`Summary`]
    /// only when no test has the blame.
    pub trouble: Option<String>,
}

/// What the boots of a machine had in common.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The last boot's facts, if it came so far.
    pub facts: Option<Value>,
    /// The last boot.
    pub last: Booted,
}

/// Boots a guest with a list of tests to run; hands over the events while it runs.
pub trait Guest {
    /// One boot, from start to end.
    fn boot(&mut self, tests: &[String], event: &mut dyn FnMut(Event)) -> Booted;
}

/// Runs `tests`, in this order, and says of each how it ended, once, as soon as that is known.
/// With no test it boots once all the same.
pub fn run(
    guest: &mut dyn Guest,
    tests: &[String],
    done: &mut dyn FnMut(&str, Outcome),
) -> Summary {
    let mut left = tests.to_vec();
    let mut summary = Summary::default();
    loop {
        let mut current: Option<String> = None;
        let mut passed: Vec<String> = Vec::new();
        let mut why: Option<String> = None;
        summary.last = guest.boot(&left, &mut |event| match event {
            Event::Start(name) => current = Some(name),
            Event::Pass(name) => {
                current = None;
                if left.contains(&name) && !passed.contains(&name) {
                    done(&name, Ok(()));
                    passed.push(name);
                }
            }
            Event::Fail { name, message } => {
                current = Some(name);
                why.get_or_insert(message);
            }
            Event::Panic(message) => {
                why.get_or_insert(message);
            }
            Event::Facts(facts) => summary.facts = Some(facts),
            Event::Other => {}
        });
        left.retain(|name| !passed.contains(name));
        if left.is_empty() {
            return summary;
        }

        // From here on a test has the blame.
        let why = why.or(summary.last.trouble.take());
        let why = why.unwrap_or_else(|| "the kernel ended without running the test".into());
        let text = format!("{why}\n\n{}", framed(&summary.last.log));
        match current.filter(|name| left.contains(name)) {
            Some(name) => {
                done(&name, Err(text));
                left.retain(|other| *other != name);
            }
            // Not one of them began: another boot would end in the same way.
            None if passed.is_empty() => {
                left.drain(..).for_each(|name| done(&name, Err(text.clone())));
            }
            // The guest died between two tests: the next one is as likely to be the cause as any.
            None => {
                let name = left.remove(0);
                done(&name, Err(format!("the guest died before it began: {text}")));
            }
        }
        if left.is_empty() {
            return summary;
        }
    }
}

/// A boot log between two lines, for the report of a failure.
pub fn framed(log: &str) -> String {
    format!("---- boot log ----\n{}\n---- end of boot log ----", log.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A guest that runs tests until it comes to one that it dies in.
    struct Fake {
        boots: usize,
        deadly: BTreeMap<&'static str, Event>,
        never_starts: bool,
    }

    impl Guest for Fake {
        fn boot(&mut self, tests: &[String], event: &mut dyn FnMut(Event)) -> Booted {
            self.boots += 1;
            let died = Booted { log: "a log".into(), trouble: Some("exit code 33".into()) };
            if self.never_starts {
                return died;
            }
            for test in tests {
                event(Event::Start(test.clone()));
                match self.deadly.get(test.as_str()) {
                    Some(last_word) => {
                        event(last_word.clone());
                        return died;
                    }
                    None => event(Event::Pass(test.clone())),
                }
            }
            Booted::default()
        }
    }

    fn outcomes(guest: &mut Fake, tests: &[&str]) -> BTreeMap<String, Outcome> {
        let tests: Vec<String> = tests.iter().map(|&name| name.to_owned()).collect();
        let mut all = BTreeMap::new();
        run(guest, &tests, &mut |name, outcome| {
            assert!(all.insert(name.to_owned(), outcome).is_none(), "{name} ended twice");
        });
        all
    }

    #[test]
    fn a_healthy_guest_boots_once() {
        let mut guest = Fake { boots: 0, deadly: BTreeMap::new(), never_starts: false };
        assert!(outcomes(&mut guest, &["a", "b"]).values().all(Result::is_ok));
        assert_eq!(guest.boots, 1);
    }

    #[test]
    fn a_panic_and_a_hang_fail_their_tests_and_the_others_still_run() {
        let panic = Event::Fail { name: "b".into(), message: "left != right".into() };
        let deadly = BTreeMap::from([("b", panic), ("d", Event::Other)]);
        let mut guest = Fake { boots: 0, deadly, never_starts: false };
        let all = outcomes(&mut guest, &["a", "b", "c", "d", "e"]);
        assert_eq!(guest.boots, 3);
        let failed: Vec<_> = all.iter().filter(|(_, o)| o.is_err()).map(|(n, _)| n).collect();
        assert_eq!(failed, ["b", "d"]);
        assert!(all["b"].as_ref().unwrap_err().starts_with("left != right\n"));
        assert!(all["d"].as_ref().unwrap_err().starts_with("exit code 33\n"));
        assert!(all["d"].as_ref().unwrap_err().contains("a log"));
    }

    #[test]
    fn a_guest_that_never_comes_up_fails_all_tests_after_one_boot() {
        let mut guest = Fake { boots: 0, deadly: BTreeMap::new(), never_starts: true };
        let all = outcomes(&mut guest, &["a", "b"]);
        assert!(all.len() == 2 && all.values().all(Result::is_err));
        assert_eq!(guest.boots, 1);
    }

    #[test]
    fn a_machine_without_tests_still_boots() {
        let mut guest = Fake { boots: 0, deadly: BTreeMap::new(), never_starts: false };
        assert!(outcomes(&mut guest, &[]).is_empty());
        assert_eq!(guest.boots, 1);
    }
}
