//! Counts and layout joined: for every region and CPU, accesses by node and kind.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::counts::{Access, Counts};
use super::layout::{Layout, RegionName, Role};

/// Bytes of a cache line.
const LINE: u64 = 64;

/// What the meter says of one boot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Every region that a CPU went through: those that the kernel names, in its order, then others.
    pub regions: Vec<Region>,
    /// Marks that fitted no open region: not 0, and the kernel's marks are wrong.
    pub strays: u64,
    /// The loads and stores to other nodes' memory in one pair with another node's zone, the worst
    /// region; `None` without such a region, or when the meter is not to be trusted.
    pub remote_accesses_per_pair: Option<f64>,
}

/// One CPU's way through one region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Region {
    /// The number in its marks.
    pub id: u8,
    /// For people.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// The CPU.
    pub cpu: u32,
    /// The CPU's node.
    pub cpu_node: Option<u32>,
    /// The node whose memory it works with.
    pub node: u32,
    /// How often it does what it is named for.
    pub times: u64,
    /// Instructions, all times together.
    pub instructions: u64,
    /// Ticks of the CPU's counter around the marks; a second count of the instructions where
    /// `-icount` is on.
    pub ticks: u64,
    /// Accesses that the meter had no room for.
    pub lost: u64,
    /// Whether a check gave what it must; `None` for other regions.
    pub right: Option<bool>,
    /// Accesses by node and kind, all times together: own node first, then by number, what is no
    /// node's memory last.
    pub memory: Vec<Share>,
    /// Each instruction and word of memory that is not the own node's.
    pub remote: Vec<Site>,
}

/// Accesses to one kind of memory of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The node; `None` for what is no node's memory, or of which it is not known.
    pub node: Option<u32>,
    /// The kind.
    pub kind: String,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Different lines of 64 bytes.
    pub lines: u64,
}

/// Accesses of one instruction to one word that is not the own node's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Site {
    /// The node, as in [`Share`].
    pub node: Option<u32>,
    /// The kind.
    pub kind: String,
    /// Which one of this kind.
    pub name: String,
    /// The word, in bytes from its beginning.
    pub offset: u64,
    /// The instruction's virtual address.
    pub pc: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

impl Region {
    /// Loads and stores to memory that is not the own node's.
    pub fn remote_accesses(&self) -> u64 {
        self.remote_by_kind().values().sum()
    }

    /// The same by kind of memory.
    pub fn remote_by_kind(&self) -> BTreeMap<&str, u64> {
        let mut kinds = BTreeMap::new();
        for share in self.memory.iter().filter(|share| share.node != self.cpu_node) {
            *kinds.entry(&share.kind[..]).or_default() += share.loads + share.stores;
        }
        kinds
    }

    /// Of `total`, what one time has.
    pub fn each(&self, total: u64) -> f64 {
        total as f64 / self.times.max(1) as f64
    }
}

impl Report {
    /// Joins what the plugin counted with what the kernel says. A region that the kernel names and
    /// the plugin did not see is there, with nothing in it; one that only the plugin knows has its
    /// number for a name.
    pub fn new(counts: &Counts, layout: &Layout) -> Report {
        let unnamed: Vec<RegionName> = unnamed(counts, layout).collect();
        let names = layout.regions.iter().chain(&unnamed);
        let regions = names.map(|name| region(name, counts, layout)).collect();
        let mut report = Report { regions, strays: counts.strays, remote_accesses_per_pair: None };
        if report.is_right() {
            report.remote_accesses_per_pair =
                report.worst_pair().map(|region| region.each(region.remote_accesses()));
        }
        report
    }

    /// Whether every check gave what it must, at least one was there, and nothing was lost.
    pub fn is_right(&self) -> bool {
        let checks: Vec<bool> = self.regions.iter().filter_map(|region| region.right).collect();
        let lost: u64 = self.regions.iter().map(|region| region.lost).sum();
        !checks.is_empty() && !checks.contains(&false) && lost == 0 && self.strays == 0
    }

    /// The pair with another node's zone that makes the most accesses to other nodes' memory.
    pub fn worst_pair(&self) -> Option<&Region> {
        let pairs = self.regions.iter().filter(|region| {
            region.role == Role::Pair && region.cpu_node.is_some_and(|own| own != region.node)
        });
        pairs.max_by(|a, b| a.each(a.remote_accesses()).total_cmp(&b.each(b.remote_accesses())))
    }
}

/// The regions that the kernel does not name. What a CPU did in one is divided by how often it was
/// in it.
fn unnamed<'a>(counts: &'a Counts, layout: &'a Layout) -> impl Iterator<Item = RegionName> + 'a {
    let named =
        |vcpu, region| layout.regions.iter().any(|name| (name.cpu, name.id) == (vcpu, region));
    let others = counts.regions.iter().filter(move |other| !named(other.vcpu, other.region));
    others.map(|other| RegionName {
        id: other.region,
        cpu: other.vcpu,
        name: format!("region {}", other.region),
        role: Role::Unnamed,
        node: layout.node_of_cpu(other.vcpu).unwrap_or(0),
        times: other.entered,
        ticks: 0,
        known: None,
    })
}

fn region(name: &RegionName, counts: &Counts, layout: &Layout) -> Region {
    let of_it = |vcpu, region| (vcpu, region) == (name.cpu, name.id);
    let counted = counts.regions.iter().find(|region| of_it(region.vcpu, region.region));
    let accesses: Vec<&Access> =
        counts.accesses.iter().filter(|access| of_it(access.vcpu, access.region)).collect();
    let cpu_node = layout.node_of_cpu(name.cpu);
    let sum = |count: fn(&Access) -> u64| accesses.iter().map(|access| count(access)).sum::<u64>();
    let (loads, stores) = (sum(|access| access.loads), sum(|access| access.stores));
    let instructions = counted.map_or(0, |counted| counted.instructions);
    let right = name.known.map(|known| {
        let expected = [known.loads, known.stores, known.instructions];
        expected.map(|each| each.saturating_mul(name.times)) == [loads, stores, instructions]
            // All of it is on the frame that the loop works on.
            && accesses.iter().all(|access| {
                let spot = layout.spot(access.address);
                (spot.kind, spot.node) == ("frames", Some(name.node))
            })
    });
    Region {
        id: name.id,
        name: name.name.clone(),
        role: name.role,
        cpu: name.cpu,
        cpu_node,
        node: name.node,
        times: name.times,
        instructions,
        ticks: name.ticks,
        lost: counted.map_or(0, |counted| counted.lost),
        right,
        memory: shares(&accesses, layout, cpu_node),
        remote: sites(&accesses, layout, cpu_node),
    }
}

fn shares(accesses: &[&Access], layout: &Layout, own: Option<u32>) -> Vec<Share> {
    let mut lines = BTreeMap::<_, BTreeSet<u64>>::new();
    let mut shares = BTreeMap::new();
    for access in accesses {
        let spot = layout.spot(access.address);
        // What is no node's comes last.
        let key = (spot.node != own, spot.node.is_none(), spot.node, spot.kind);
        lines.entry(key).or_default().insert(access.address / LINE);
        let share = shares.entry(key).or_insert_with(|| Share {
            node: spot.node,
            kind: spot.kind.to_owned(),
            loads: 0,
            stores: 0,
            lines: 0,
        });
        share.loads += access.loads;
        share.stores += access.stores;
    }
    let with_lines = |(key, share)| Share { lines: lines[&key].len() as u64, ..share };
    shares.into_iter().map(with_lines).collect()
}

fn sites(accesses: &[&Access], layout: &Layout, own: Option<u32>) -> Vec<Site> {
    let site = |access: &&Access| {
        let spot = layout.spot(access.address);
        Site {
            node: spot.node,
            kind: spot.kind.to_owned(),
            name: spot.name.to_owned(),
            offset: spot.offset,
            pc: access.pc,
            loads: access.loads,
            stores: access.stores,
        }
    };
    accesses.iter().map(site).filter(|site| site.node != own).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::locality::{counts, layout};
    use serde_json::{Value, json};

    pub fn region(id: u8, role: &str, cpu: u32, node: u32, known: Value) -> Value {
        json!({"id": id, "role": role, "cpu": cpu, "node": node, "times": 10, "ticks": 9, "known": known,
               "name": format!("{role} on node {node}")})
    }

    pub fn report(regions: Value, lines: &str) -> Report {
        let counts = counts::parse(&format!("nearmem-locality 1\n{lines}")).unwrap();
        Report::new(&counts, &layout::tests::layout(regions))
    }

    /// A check of CPU 0 on node 1, as the test layout has it, that gives what it must.
    pub const CHECK: &str = "region 0 1 1 50 0\naccess 0 1 aa 113000 10 20\n";

    pub fn check() -> Value {
        region(1, "check", 0, 1, json!({"loads": 1, "stores": 2, "instructions": 5}))
    }

    #[test]
    fn accesses_are_summed_by_node_and_kind() {
        let lines = "region 0 13 1 400 0\naccess 0 13 a0 101000 10 0\naccess 0 13 a4 101008 0 10\n\
                     access 0 13 a8 101040 5 0\naccess 0 13 ac 111000 20 30\n\
                     access 0 13 b0 1000000 1 0\naccess 1 13 ac 111000 7 7\n";
        let report = report(json!([region(13, "pair", 0, 1, Value::Null)]), lines);
        let [region] = &report.regions[..] else { panic!("{report:?}") };
        let share = |node, kind: &str, loads, stores, lines| Share {
            node,
            kind: kind.into(),
            loads,
            stores,
            lines,
        };
        assert_eq!(
            region.memory,
            [
                share(Some(0), "pageset", 15, 10, 2),
                share(Some(1), "zone", 20, 30, 1),
                share(None, "vmalloc", 1, 0, 1),
            ]
        );
        assert_eq!((region.cpu_node, region.instructions, region.times), (Some(0), 400, 10));
        // What is of no known node counts as another node's: rather too much than too little.
        assert_eq!(region.remote_accesses(), 51);
        assert_eq!(region.remote_by_kind(), [("vmalloc", 1), ("zone", 50)].into());
        let sites: Vec<_> =
            region.remote.iter().map(|site| (site.name.as_str(), site.offset, site.pc)).collect();
        assert_eq!(sites, [("node 1 DMA32", 0, 0xac), ("", 0, 0xb0)]);
    }

    #[test]
    fn regions_without_a_name_are_shown_by_number() {
        let lines = "region 1 30 4 400 0\naccess 1 30 a0 111000 8 0\n";
        let report = report(json!([]), lines);
        let [region] = &report.regions[..] else { panic!("{report:?}") };
        assert_eq!((&region.name[..], region.role), ("region 30", Role::Unnamed));
        assert_eq!((region.cpu_node, region.each(region.memory[0].loads)), (Some(1), 2.0));
        assert_eq!(region.remote_accesses(), 0);
    }

    #[test]
    fn the_figure_is_that_of_the_worst_remote_pair() {
        let regions = json!([
            check(),
            region(11, "pair", 0, 0, Value::Null),
            region(13, "pair", 0, 1, Value::Null),
            region(14, "pair", 0, 1, Value::Null),
        ]);
        let lines = format!(
            "{CHECK}region 0 11 1 1 0\naccess 0 11 a0 111000 900 0\nregion 0 13 1 1 0\n\
             access 0 13 a0 111000 20 5\nregion 0 14 1 1 0\naccess 0 14 a0 111000 30 6\n"
        );
        let report = report(regions, &lines);
        assert!(report.is_right());
        assert_eq!(report.remote_accesses_per_pair, Some(3.6));
    }

    #[test]
    fn a_meter_that_is_wrong_gives_no_figure() {
        let regions = json!([check(), region(13, "pair", 0, 1, Value::Null)]);
        let pair = "region 0 13 1 1 0\naccess 0 13 a0 111000 20 5\n";
        let figure = |lines: &str| report(regions.clone(), lines).remote_accesses_per_pair;
        assert_eq!(figure(&format!("{CHECK}{pair}")), Some(2.5));
        assert_eq!(figure(&format!("{}{pair}", CHECK.replace("10 20", "10 21"))), None);
        assert_eq!(figure(&format!("{}{pair}", CHECK.replace(" 50 ", " 51 "))), None);
        assert_eq!(figure(&format!("{}{pair}", CHECK.replace("113000", "103000"))), None);
        assert_eq!(figure(&format!("{CHECK}{}", pair.replace("1 1 0", "1 1 9"))), None);
        assert_eq!(figure(&format!("{CHECK}{pair}stray 0 1\n")), None);
        // No plugin at work, no figure.
        assert_eq!(figure(""), None);
    }
}
