//! Memory tiers: an abstract distance for each node's memory, by Linux 6.12's rule. (6.1 knows the
//! tiers and does not look at the HMAT for them: all memory is in tier 4 there.)

use super::{Access, Class, Figures};
use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::hmat::SIGNATURE;
use crate::ids::NodeId;

/// log2 of the span of abstract distances that are one tier.
pub const CHUNK_SHIFT: u32 = 7;
/// The abstract distance of ordinary memory: the middle of the fifth tier.
pub const DRAM_DISTANCE: u32 = (4 << CHUNK_SHIFT) + (1 << CHUNK_SHIFT) / 2;

/// Writes the abstract distance of each node with memory.
pub fn fill(access: &Access<'_>, distances: &mut [u32], findings: &mut dyn Findings) {
    distances.fill(DRAM_DISTANCE);
    let Some(dram) = dram(access, findings) else { return };
    for node in access.map.with_memory().iter() {
        let Some(slot) = distances.get_mut(node.index()) else { continue };
        let known = Sums::of(&access.best(node, Class::Cpus).figures);
        *slot = known.map_or(DRAM_DISTANCE, |sums| sums.distance(&dram));
    }
}

/// What ordinary memory does: the first node with memory and CPUs. `None` when it is not known, or
/// another such node differs in a figure by more than a tenth.
fn dram(access: &Access<'_>, findings: &mut dyn Findings) -> Option<Sums> {
    let map = access.map;
    let mut reference: Option<(NodeId, Figures)> = None;
    let ordinary = |&node: &NodeId| access.with_cpus.contains(map.whole(node));
    for node in map.with_memory().iter().filter(ordinary) {
        let figures = access.best(node, Class::Cpus).figures;
        // As in Linux, nodes behind one of which nothing is known are not looked at.
        if Sums::of(&figures).is_none() {
            break;
        }
        match reference {
            None => reference = Some((node, figures)),
            Some((reference, first)) if differ(&first, &figures) => {
                let kind = Kind::HmatDramDiffers { node, reference };
                findings.add(Finding::at(Place::table(SIGNATURE), kind));
                return None;
            }
            Some(_) => {}
        }
    }
    Sums::of(&reference?.1)
}

/// Whether a figure differs by more than a tenth of the first one's.
fn differ(first: &Figures, second: &Figures) -> bool {
    let far = |first: Option<u32>, second: Option<u32>| {
        let (first, second) = (first.unwrap_or(0), second.unwrap_or(0));
        u64::from(first.abs_diff(second)) * 10 > u64::from(first)
    };
    far(first.read_latency, second.read_latency)
        || far(first.write_latency, second.write_latency)
        || far(first.read_bandwidth, second.read_bandwidth)
        || far(first.write_bandwidth, second.write_bandwidth)
}

/// Latencies and bandwidths of reads and writes together, neither of them 0.
#[derive(Clone, Copy)]
struct Sums {
    latency: u64,
    bandwidth: u64,
}

impl Sums {
    /// `None` when nothing is known of one of the two.
    fn of(figures: &Figures) -> Option<Sums> {
        let sum = |read: Option<u32>, write: Option<u32>| {
            let sum = u64::from(read.unwrap_or(0)) + u64::from(write.unwrap_or(0));
            (sum > 0).then_some(sum)
        };
        Some(Sums {
            latency: sum(figures.read_latency, figures.write_latency)?,
            bandwidth: sum(figures.read_bandwidth, figures.write_bandwidth)?,
        })
    }

    /// In proportion to the latency, and against that to the bandwidth; each step in whole numbers.
    fn distance(&self, dram: &Sums) -> u32 {
        let slower = u64::from(DRAM_DISTANCE) * self.latency / dram.latency;
        let narrower = u128::from(slower) * u128::from(dram.bandwidth) / u128::from(self.bandwidth);
        u32::try_from(narrower).unwrap_or(u32::MAX)
    }
}
