//! An HMAT and a node map -> how fast each node reaches memory, tiers, interleave weights, caches.

use nearmem::NodeId;
use nearmem::finding::Findings;
use nearmem::firmware::hmat::SideCache;
use nearmem::topology::NodeMap;
use nearmem::topology::access::{Access, AccessNode, AccessStorage, Class, Figures};

/// What is known of the speed of memory.
#[derive(Debug)]
pub struct Speeds {
    /// Whether the table is in use; otherwise all that follows is what holds without one.
    pub known: bool,
    /// Nodes of which a path is known, ascending: the rows of `figures`.
    pub initiators: Vec<NodeId>,
    /// Nodes with memory, ascending: the columns of `figures`.
    pub targets: Vec<Target>,
    /// The paths, a row for each initiator.
    pub figures: Vec<Vec<Figures>>,
    /// Memory side caches and the nodes whose memory they are in front of, in table order.
    pub caches: Vec<(NodeId, SideCache)>,
}

/// A node's memory.
#[derive(Debug)]
pub struct Target {
    /// The node.
    pub node: NodeId,
    /// Its tier; 4 for ordinary memory, lower is faster.
    pub tier: u32,
    /// What the tier is made of.
    pub abstract_distance: u32,
    /// How many allocations in a row it gets when they are interleaved by weight.
    pub weight: u8,
    /// The initiators that reach it best.
    pub best: Vec<NodeId>,
    /// Of those with CPUs, the ones that reach it best.
    pub best_cpus: Vec<NodeId>,
}

impl Speeds {
    /// What holds without an HMAT.
    pub fn unknown(map: &NodeMap<'_>) -> Speeds {
        Speeds::of(&Access::unknown(map), map)
    }

    /// Reads an HMAT.
    pub fn read(hmat: &[u8], map: &NodeMap<'_>, findings: &mut dyn Findings) -> Speeds {
        let room = Access::room(map);
        let mut nodes = vec![AccessNode::NONE; room];
        let (mut distances, mut weights) = (vec![0; room], vec![0; room]);
        let storage =
            AccessStorage { nodes: &mut nodes, distances: &mut distances, weights: &mut weights };
        Speeds::of(&Access::build(hmat, map, storage, findings), map)
    }

    fn of(access: &Access<'_>, map: &NodeMap<'_>) -> Speeds {
        let best = |node, class| access.best(node, class).initiators.iter().collect();
        let target = |node| Target {
            node,
            tier: access.tier(node),
            abstract_distance: access.abstract_distance(node),
            weight: access.weight(node),
            best: best(node, Class::Any),
            best_cpus: best(node, Class::Cpus),
        };
        let targets: Vec<_> = map.with_memory().iter().map(target).collect();
        let row = |from| targets.iter().map(|to| access.figures(from, to.node)).collect::<Vec<_>>();
        let rows = map.online().iter().map(|from| (from, row(from)));
        let (initiators, figures) =
            rows.filter(|(_, row)| row.iter().any(|figures| !figures.is_empty())).unzip();
        let caches = access.caches().collect();
        Speeds { known: access.is_known(), initiators, figures, targets, caches }
    }
}
