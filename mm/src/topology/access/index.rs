//! Where each node stands in an HMAT: which structure has a figure, in which row and column.

use super::NodeMap;
use crate::finding::{Finding, Findings, Kind, Place};
use crate::firmware::hmat::{Body, DataType, DomainAttributes, Hmat, Locality};
use crate::ids::{NodeId, NodeSet, ProximityDomain};

/// One of the four figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Nanoseconds until a write is done.
    WriteLatency,
    /// Nanoseconds until a read is answered.
    ReadLatency,
    /// MB/s that can be written.
    WriteBandwidth,
    /// MB/s that can be read.
    ReadBandwidth,
}

impl Metric {
    /// How many there are.
    pub const COUNT: usize = 4;
    /// All, the one that decides first to the one that decides last (Linux: `hmat.c`).
    pub const BY_PRIORITY: [Metric; Metric::COUNT] =
        [Metric::WriteLatency, Metric::ReadLatency, Metric::WriteBandwidth, Metric::ReadBandwidth];

    /// Whether `value` is better than `other`.
    pub fn is_better(self, value: u32, other: u32) -> bool {
        match self {
            Metric::WriteLatency | Metric::ReadLatency => value < other,
            Metric::WriteBandwidth | Metric::ReadBandwidth => value > other,
        }
    }

    /// What a data type has figures for.
    fn of(data_type: DataType) -> &'static [Metric] {
        match data_type {
            DataType::AccessLatency => &[Metric::WriteLatency, Metric::ReadLatency],
            DataType::ReadLatency => &[Metric::ReadLatency],
            DataType::WriteLatency => &[Metric::WriteLatency],
            DataType::AccessBandwidth => &[Metric::WriteBandwidth, Metric::ReadBandwidth],
            DataType::ReadBandwidth => &[Metric::ReadBandwidth],
            DataType::WriteBandwidth => &[Metric::WriteBandwidth],
        }
    }
}

/// The structure that counts for each figure, and the nodes that are initiators in one of them.
#[derive(Default)]
pub struct Matrices<'m> {
    of: [Option<Used<'m>>; Metric::COUNT],
    /// As the SRAT numbers them.
    pub initiators: NodeSet,
}

#[derive(Clone, Copy)]
struct Used<'m> {
    place: Place,
    locality: Locality<'m>,
}

impl<'m> Matrices<'m> {
    /// The matrix of a figure.
    pub fn of(&self, metric: Metric) -> Option<&Locality<'m>> {
        self.of[metric as usize].as_ref().map(|used| &used.locality)
    }
}

/// Where a node stands: its row as an initiator and its column as a target, for each figure, and
/// the initiator that its memory is attached to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessNode {
    rows: [u32; Metric::COUNT],
    columns: [u32; Metric::COUNT],
    attached: Option<NodeId>,
}

/// Not in the list. A list has fewer domains than this: a table's length has 32 bits.
const NOWHERE: u32 = u32::MAX;

impl AccessNode {
    /// A node that the table does not name, to fill storage with.
    pub const NONE: AccessNode = AccessNode {
        rows: [NOWHERE; Metric::COUNT],
        columns: [NOWHERE; Metric::COUNT],
        attached: None,
    };

    /// Its row in the matrix of a figure.
    pub(super) fn row(&self, metric: Metric) -> Option<usize> {
        let row = self.rows[metric as usize];
        (row != NOWHERE).then_some(row as usize)
    }

    /// Its column in the matrix of a figure.
    pub(super) fn column(&self, metric: Metric) -> Option<usize> {
        let column = self.columns[metric as usize];
        (column != NOWHERE).then_some(column as usize)
    }

    /// The node that its memory is attached to, as the table says.
    pub(super) fn attached(&self) -> Option<NodeId> {
        self.attached
    }
}

/// Fills `nodes`, by the SRAT's node ids.
pub fn fill<'m>(
    hmat: &Hmat<'m>,
    map: &NodeMap<'_>,
    nodes: &mut [AccessNode],
    findings: &mut dyn Findings,
) -> Matrices<'m> {
    nodes.fill(AccessNode::NONE);
    let mut matrices = Matrices::default();
    for structure in hmat.structures() {
        let place = structure.place();
        let mut find = |kind| findings.add(Finding::at(place, kind));
        match structure.body {
            Body::Attributes(attributes) => attach(&attributes, map, nodes, &mut find),
            Body::Locality(locality) if locality.hierarchy == Locality::MEMORY => {
                choose(&mut matrices, Used { place, locality }, &mut find);
            }
            Body::Cache(cache) if map.node_of_pxm(cache.memory).is_none() => {
                find(Kind::HmatDomainWithoutNode { pxm: cache.memory });
            }
            _ => {}
        }
    }
    let mut before = None;
    for metric in Metric::BY_PRIORITY {
        let Some(Used { place, locality }) = matrices.of[metric as usize] else { continue };
        let mut odd = Odd::default();
        let mut lines = Lines { map, nodes: &mut *nodes, odd: &mut odd };
        lines.enter(locality.initiators(), |node| &mut node.rows[metric as usize]);
        lines.enter(locality.targets(), |node| &mut node.columns[metric as usize]);
        let nodes = locality.initiators().filter_map(|pxm| map.node_of_pxm(pxm));
        nodes.for_each(|node| _ = matrices.initiators.insert(node));
        // One structure may have two figures: it is odd once.
        if before != Some(place) {
            odd.report(place, findings);
        }
        before = Some(place);
    }
    matrices
}

/// Enters the rows or the columns of one matrix.
struct Lines<'a, 'm> {
    map: &'a NodeMap<'m>,
    nodes: &'a mut [AccessNode],
    odd: &'a mut Odd,
}

impl Lines<'_, '_> {
    /// The first place of a domain counts.
    fn enter(
        &mut self,
        list: impl Iterator<Item = ProximityDomain>,
        line: impl Fn(&mut AccessNode) -> &mut u32,
    ) {
        for (at, pxm) in list.enumerate() {
            let Some(node) = self.map.node_of_pxm(pxm) else {
                self.odd.without_node.get_or_insert(pxm);
                continue;
            };
            let Some(node) = self.nodes.get_mut(node.index()) else { continue };
            match line(node) {
                line if *line == NOWHERE => *line = at as u32,
                _ => _ = self.odd.twice.get_or_insert(pxm),
            }
        }
    }
}

/// Takes the last structure for a figure, as Linux does.
fn choose<'m>(matrices: &mut Matrices<'m>, used: Used<'m>, find: &mut dyn FnMut(Kind)) {
    let Some(data_type) = DataType::new(used.locality.data_type) else { return };
    let metrics = Metric::of(data_type);
    if metrics.iter().any(|&metric| matrices.of(metric).is_some()) {
        find(Kind::HmatGivenTwice { data_type: used.locality.data_type });
    }
    for &metric in metrics {
        matrices.of[metric as usize] = Some(used);
    }
}

/// Notes the initiator that a node's memory is attached to; the last one counts, as in Linux.
fn attach(
    attributes: &DomainAttributes,
    map: &NodeMap<'_>,
    nodes: &mut [AccessNode],
    find: &mut dyn FnMut(Kind),
) {
    let Some(memory) = attributes.memory else { return };
    let mut node = |pxm| {
        let node = map.node_of_pxm(pxm);
        if node.is_none() {
            find(Kind::HmatDomainWithoutNode { pxm });
        }
        node
    };
    let target = node(memory);
    let Some(initiator) = attributes.initiator.and_then(node) else { return };
    let Some(slot) = target.and_then(|target| nodes.get_mut(target.index())) else { return };
    slot.attached = Some(initiator);
}

/// The first domain of a structure that has no node, and the first that stands twice in a list.
#[derive(Default)]
struct Odd {
    without_node: Option<ProximityDomain>,
    twice: Option<ProximityDomain>,
}

impl Odd {
    fn report(&self, place: Place, findings: &mut dyn Findings) {
        if let Some(pxm) = self.without_node {
            findings.add(Finding::at(place, Kind::HmatDomainWithoutNode { pxm }));
        }
        if let Some(pxm) = self.twice {
            findings.add(Finding::at(place, Kind::HmatDomainTwice { pxm }));
        }
    }
}
