//! One figure: from the raw counts of its runs to a value.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One figure; its JSON is the contract of `bench --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// What it is counted in.
    pub unit: String,
    /// For one operation.
    pub value: f64,
}

/// What the kernel sends.
#[derive(Deserialize)]
struct Raw {
    name: String,
    unit: String,
    take: String,
    per: u64,
    runs: Vec<u64>,
    empty: Vec<u64>,
}

/// Digits behind the point that are kept.
const PRECISION: f64 = 1e4;

impl Figure {
    /// A figure of the kernel's fact of type `bench`: the median of its runs, or the largest where
    /// it says so, less the median of the runs that did nothing, for one of its operations.
    ///
    /// # Errors
    /// The fact is not as agreed.
    pub fn from_fact(fact: Value) -> Result<Figure> {
        let raw: Raw = serde_json::from_value(fact).context("a benchmark's fact")?;
        let name = &raw.name;
        let taken = match raw.take.as_str() {
            "median" => median(&raw.runs),
            "largest" => raw.runs.iter().max().map(|&largest| largest as f64),
            other => bail!("benchmark {name}: `{other}` is no way to take runs together"),
        };
        let Some(taken) = taken.filter(|_| raw.per > 0) else {
            bail!("benchmark {name} has no runs or no operations");
        };
        let value = (taken - median(&raw.empty).unwrap_or(0.0)) / raw.per as f64;
        let value = (value * PRECISION).round() / PRECISION;
        Ok(Figure { name: raw.name, unit: raw.unit, value })
    }
}

/// The median; of an even number of values the mean of the two in the middle. `None` of none.
fn median(values: &[u64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => sorted.get(sorted.len() / 2 - 1).map(|&lower| (lower as f64 + upper as f64) / 2.0),
        _ => Some(upper as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fact(take: &str, per: u64, runs: &[u64], empty: &[u64]) -> Value {
        json!({"type": "bench", "name": "x", "unit": "instructions", "take": take, "per": per,
               "runs": runs, "empty": empty})
    }

    fn value(take: &str, per: u64, runs: &[u64], empty: &[u64]) -> f64 {
        Figure::from_fact(fact(take, per, runs, empty)).unwrap().value
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7]), Some(7.0));
        assert_eq!(median(&[9, 1, 2]), Some(2.0));
        assert_eq!(median(&[9, 1, 2, 3]), Some(2.5));
        assert_eq!(median(&[u64::MAX, u64::MAX]), Some(u64::MAX as f64));
    }

    #[test]
    fn the_empty_runs_are_subtracted_and_the_rest_shared_out() {
        assert_eq!(value("median", 1000, &[601_000, 600_000, 999_999], &[1000, 900, 1100]), 600.0);
        assert_eq!(value("largest", 1, &[10, 1500, 20], &[7]), 1493.0);
        assert_eq!(value("median", 3, &[1], &[]), 0.3333);
    }

    #[test]
    fn json_is_the_contract() {
        let figure = Figure::from_fact(fact("median", 2, &[5], &[])).unwrap();
        let text = serde_json::to_string(&figure).unwrap();
        assert_eq!(text, r#"{"name":"x","unit":"instructions","value":2.5}"#);
    }

    #[test]
    fn facts_that_are_not_as_agreed() {
        for fact in [
            json!({"type": "bench", "name": "x"}),
            fact("mean", 1, &[1], &[]),
            fact("median", 1, &[], &[]),
            fact("median", 0, &[1], &[]),
        ] {
            assert!(Figure::from_fact(fact.clone()).is_err(), "{fact}");
        }
    }
}
