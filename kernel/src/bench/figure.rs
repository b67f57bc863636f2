//! What is sent of one figure.

use alloc::vec;
use alloc::vec::Vec;

use serde_json::{Value, json};

/// How one figure comes of several runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Take {
    /// The median.
    Median,
    /// The largest.
    Largest,
}

/// One figure, raw: it is (`take` of `runs` less the median of `empty`) / `per`.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: &'static str,
    /// How the runs become one.
    pub take: Take,
    /// How many operations a run has.
    pub per: u64,
    /// Each run's count.
    pub runs: Vec<u64>,
    /// The same of runs that do nothing.
    pub empty: Vec<u64>,
}

impl Figure {
    /// The median of runs of `per` operations, in instructions.
    pub fn median(name: &'static str, per: u64, runs: Vec<u64>, empty: Vec<u64>) -> Figure {
        Figure { name, unit: "instructions", take: Take::Median, per, runs, empty }
    }

    /// A count that was made once.
    pub fn once(name: &'static str, unit: &'static str, count: u64, per: u64) -> Figure {
        Figure { name, unit, take: Take::Median, per, runs: vec![count], empty: vec![] }
    }

    /// The line for programs.
    pub fn json(&self) -> Value {
        let take = match self.take {
            Take::Median => "median",
            Take::Largest => "largest",
        };
        json!({
            "type": "bench",
            "name": self.name,
            "unit": self.unit,
            "take": take,
            "per": self.per,
            "runs": self.runs,
            "empty": self.empty,
        })
    }
}
