//! Default weights for interleaving: memory in proportion to bandwidth, as Linux 6.16's automatic
//! mode has them.

use super::{Access, Class};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::hmat::SIGNATURE;
use crate::ids::{NodeId, NodeSet};

/// The highest weight: what all weights together come to, about, before they are reduced.
pub const WEIGHTINESS: u8 = 32;

/// Writes the weight of each node with memory. Without the bandwidth of one of them there is no
/// proportion: all are 1.
pub fn fill(access: &Access<'_>, weights: &mut [u8], findings: &mut dyn Findings) {
    weights.fill(1);
    let nodes = access.map.with_memory();
    let bandwidth = |node| access.best(node, Class::Cpus).figures.bandwidth();
    let mut unknown = None;
    let mut sum = 0;
    for node in nodes.iter() {
        match bandwidth(node) {
            Some(bandwidth) => sum += u64::from(bandwidth),
            None => _ = unknown.get_or_insert(node),
        }
    }
    match unknown {
        Some(node) if sum > 0 => {
            let kind = Kind::HmatNoBandwidth { node };
            findings.add(Finding::at(Place::table(SIGNATURE), kind));
        }
        Some(_) => {}
        None => weigh(nodes, |node| bandwidth(node).unwrap_or(0), sum, weights),
    }
}

/// Weights from bandwidths whose sum is not 0.
fn weigh(nodes: &NodeSet, bandwidth: impl Fn(NodeId) -> u32, sum: u64, weights: &mut [u8]) {
    let mut common = 0;
    for node in nodes.iter() {
        let share = u64::from(WEIGHTINESS) * u64::from(bandwidth(node)) / sum.max(1);
        let weight = share.clamp(1, u64::from(WEIGHTINESS)) as u8;
        common = greatest_common_divisor(common, weight);
        if let Some(slot) = weights.get_mut(node.index()) {
            *slot = weight;
        }
    }
    for node in nodes.iter() {
        if let Some(slot) = weights.get_mut(node.index()) {
            *slot /= common.max(1);
        }
    }
}

/// 0 and a number have that number.
fn greatest_common_divisor(mut a: u8, mut b: u8) -> u8 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
