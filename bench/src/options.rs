//! What can be chosen from outside.

/// The variable that says with how many threads the workloads run.
pub const THREADS: &str = "NEARMEM_BENCH_THREADS";

/// Numbers of threads to run with, ascending: those of the variable, as in `1,2,8`; 1 and 2 without
/// it. 1 is always among them, since ratios are to it.
///
/// # Panics
/// When the variable has anything else.
pub fn threads() -> Vec<usize> {
    match std::env::var(THREADS) {
        Ok(text) => parse(&text).unwrap_or_else(|| panic!("{THREADS}={text}: expected 1,2,8")),
        Err(_) => vec![1, 2],
    }
}

fn parse(text: &str) -> Option<Vec<usize>> {
    let numbers = text.split(',').map(|word| word.trim().parse().ok());
    let mut all = numbers.collect::<Option<Vec<usize>>>()?;
    all.push(1);
    all.sort_unstable();
    all.dedup();
    all.iter().all(|threads| (1..=1024).contains(threads)).then_some(all)
}

/// Whether criterion only tries whether the benchmarks run (`cargo bench -- --test`).
pub fn only_tries() -> bool {
    std::env::args().any(|word| word == "--test")
}

/// Whether a benchmark of this name, which is none of criterion's, is wanted: no filter was given
/// to `cargo bench`, or one that is part of the name, and it is no mere trial.
pub fn is_wanted(name: &str) -> bool {
    if only_tries() {
        return false;
    }
    let mut filters = std::env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    filters.peek().is_none() || filters.any(|filter| name.contains(&filter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads() {
        assert_eq!(parse("2"), Some(vec![1, 2]));
        assert_eq!(parse("8, 1,4,4"), Some(vec![1, 4, 8]));
        for text in ["", "0", "two", "1,,2", "4096"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
