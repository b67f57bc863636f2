//! The tables at the end of a run.

use comfy_table::{CellAlignment, Table, presets};

use crate::peers::{ArrayStack, Nearmem};
use crate::{Peer, Results};

/// The workload that all ratios are to: one thread on the mutexed array stack.
pub const UNIT: &str = "pair, order 0";
/// The workload of private work.
pub const CONTROL: &str = "control";

/// What this project wants to come to: workload, whether with all threads, target, LLFree's figure on
/// the machine that the targets are from (0.32 there is 10 ns).
const TARGETS: &[(&str, bool, f64, &str)] = &[
    ("pair, order 0", false, 0.33, "3.6"),
    ("bulk alloc, order 0", false, 0.5, "1.6"),
    ("bulk free, order 0", false, 0.5, "1.3"),
    ("random free, order 0", true, 0.8, "1.7 to 3.6"),
    ("pair, order 9", false, 1.6, "2.1"),
];

/// The least that a second thread has to bring, relative to private work.
const SCALING: f64 = 0.95;

/// All times, and as ratios to the mutexed array stack's pair in the same run.
pub fn everything(results: &Results) -> String {
    let mut table = table(&["workload", "allocator", "threads", "ns", "ratio"], &[2, 3, 4]);
    let unit = results.get(UNIT, ArrayStack::NAME, 1);
    for (key, time) in results.all() {
        let ratio = unit.map(|unit| format!("{:.2}", time / unit)).unwrap_or_default();
        let time = format!("{time:.1}");
        let threads = key.threads.to_string();
        table.add_row([&key.workload, key.peer, &threads, &time, &ratio]);
    }
    table.to_string()
}

/// This project's ratios with the targets beside. `threads`: those of the run, ascending.
pub fn targets(results: &Results, threads: &[usize]) -> String {
    let mut table = table(&["figure", "threads", "here", "target", "met", "LLFree"], &[1, 2, 3]);
    let most = threads.last().copied().unwrap_or(1);
    let unit = results.get(UNIT, ArrayStack::NAME, 1);
    for &(workload, all_threads, target, llfree) in TARGETS {
        let threads = if all_threads { most } else { 1 };
        let here = results.get(workload, Nearmem::NAME, threads);
        let Some(ratio) = here.zip(unit).map(|(here, unit)| here / unit) else { continue };
        let met = if ratio <= target { "yes" } else { "no" };
        let [threads, ratio, target] =
            [threads.to_string(), format!("{ratio:.2}"), target.to_string()];
        table.add_row([workload, &threads, &ratio, &target, met, llfree]);
    }
    for workload in ["pair, order 0", "bulk alloc, order 0", "bulk free, order 0"] {
        for &threads in threads.iter().filter(|&&threads| threads > 1) {
            let Some(scaling) = scaling(results, workload, threads) else { continue };
            let met = if scaling >= SCALING { "yes" } else { "no" };
            table.add_row([
                &format!("{workload}: against 1 thread, control 1"),
                &threads.to_string(),
                &format!("{scaling:.2}"),
                &SCALING.to_string(),
                met,
                "",
            ]);
        }
    }
    for &threads in threads {
        let time = |peer| results.get("latency p99.9", peer, threads);
        let Some((here, stack)) = time(Nearmem::NAME).zip(time(ArrayStack::NAME)) else { continue };
        table.add_row([
            "p99.9 in ns; target: the stack's",
            &threads.to_string(),
            &format!("{here:.0}"),
            &format!("{stack:.0}"),
            if here <= stack { "yes" } else { "no" },
            "",
        ]);
    }
    table.to_string()
}

/// What several threads do together, against one, relative to the same of private work: 1 when
/// they do not get into each other's way.
fn scaling(results: &Results, workload: &str, threads: usize) -> Option<f64> {
    let slower = |workload, peer| {
        Some(results.get(workload, peer, threads)? / results.get(workload, peer, 1)?)
    };
    Some(slower(CONTROL, CONTROL)? / slower(workload, Nearmem::NAME)?)
}

fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for (_, column) in table.column_iter_mut().enumerate().filter(|(at, _)| numbers.contains(at)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        results.add(UNIT, ArrayStack::NAME, 1, 30.0);
        results.add(UNIT, Nearmem::NAME, 1, 9.0);
        results.add(UNIT, Nearmem::NAME, 2, 12.0);
        results.add("pair, order 9", Nearmem::NAME, 1, 60.0);
        results.add(CONTROL, CONTROL, 1, 1.0);
        results.add(CONTROL, CONTROL, 2, 1.2);
        results
    }

    fn row<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.trim_start().starts_with(start));
        line.unwrap_or_else(|| panic!("{text}")).split_whitespace().collect()
    }

    #[test]
    fn ratios_are_to_the_stack_of_the_same_run() {
        let text = targets(&results(), &[1, 2]);
        assert_eq!(row(&text, "pair, order 0 ")[3..], ["1", "0.30", "0.33", "yes", "3.6"]);
        assert_eq!(row(&text, "pair, order 9")[3..], ["1", "2.00", "1.6", "no", "2.1"]);
        assert!(!text.contains("random"), "nothing is said of what was not measured: {text}");
        let all = everything(&results());
        assert_eq!(row(&all, "pair, order 9")[3..], ["nearmem", "1", "60.0", "2.00"]);
    }

    #[test]
    fn scaling_is_relative_to_private_work() {
        // 12 / 9 slower, where private work is 1.2 slower.
        let found = scaling(&results(), UNIT, 2).unwrap();
        assert!((found - 0.9).abs() < 1e-9, "{found}");
        assert_eq!(scaling(&results(), UNIT, 4), None);
    }
}
