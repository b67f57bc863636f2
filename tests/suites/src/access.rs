//! What the HMAT says, read where the firmware left it; and interleaving by its weights.

use alloc::vec::Vec;

use nearmem::NodeId;
use nearmem::alloc::{Policy, Request, WeightedInterleave, interleave_nodes};
use nearmem::firmware::hmat::{Body, DataType, Locality};
use nearmem::topology::access::{Class, DRAM_DISTANCE};
use nearmem_kernel::Kernel;
use nearmem_suites::kernel_tests;

use crate::support::give_back;

kernel_tests! {
    figures_are_those_of_the_table,
    best_initiators_are_as_fast_as_is_said,
    without_an_hmat_all_memory_is_alike,
    weights_are_reduced,
    weighted_interleaving_follows_the_weights,
}

/// The last structure of each sort counts; here every figure of those that are alone of their sort.
fn figures_are_those_of_the_table(kernel: &Kernel) {
    let access = kernel.access;
    let structures = || access.hmat().into_iter().flat_map(|hmat| hmat.structures());
    let localities: Vec<Locality<'_>> = structures()
        .filter_map(|structure| match structure.body {
            Body::Locality(locality) if locality.hierarchy == Locality::MEMORY => Some(locality),
            _ => None,
        })
        .collect();
    for locality in &localities {
        let latency = |one: &Locality<'_>| DataType::new(one.data_type).map(DataType::is_latency);
        let Some(is_latency) = latency(locality) else { continue };
        let same_sort = localities.iter().filter(|&other| latency(other) == Some(is_latency));
        if same_sort.count() > 1 {
            continue;
        }
        let mut seen = Vec::new();
        for (initiator, target, value) in locality.values() {
            if seen.contains(&(initiator, target)) {
                continue;
            }
            seen.push((initiator, target));
            let node = |pxm| kernel.map.node_of_pxm(pxm);
            let (Some(from), Some(to)) = (node(initiator), node(target)) else { continue };
            for (from, to) in
                parts(kernel, from).flat_map(|from| parts(kernel, to).map(move |to| (from, to)))
            {
                let figures = access.figures(from, to);
                let read = match is_latency {
                    true => [figures.read_latency, figures.write_latency],
                    false => [figures.read_bandwidth, figures.write_bandwidth],
                };
                assert!(read.contains(&value.known()), "{from} to {to}: {figures:?}, {value:?}");
            }
        }
    }
}

/// The nodes that are, or are parts of, a node of the SRAT.
fn parts(kernel: &Kernel, whole: NodeId) -> impl Iterator<Item = NodeId> {
    let map = kernel.map;
    map.possible().iter().filter(move |&node| map.whole(node) == whole)
}

fn best_initiators_are_as_fast_as_is_said(kernel: &Kernel) {
    for node in kernel.map.with_memory().iter() {
        for class in [Class::Any, Class::Cpus] {
            let best = kernel.access.best(node, class);
            for from in best.initiators.iter() {
                assert!(kernel.map.online().contains(from), "{from} of {node}");
                let cpus = kernel.map.cpus_of(from).next().is_some();
                assert!(class == Class::Any || cpus, "{from} of {node} has no CPU");
                let (said, path) = (best.figures, kernel.access.figures(from, node));
                assert_eq!(said, path, "node {node} from {from}");
            }
        }
    }
}

fn without_an_hmat_all_memory_is_alike(kernel: &Kernel) {
    if kernel.access.is_known() {
        return;
    }
    for node in kernel.map.possible().iter() {
        assert_eq!(kernel.access.abstract_distance(node), DRAM_DISTANCE);
        assert_eq!((kernel.access.tier(node), kernel.access.weight(node)), (4, 1));
        assert!(kernel.access.best(node, Class::Any).initiators.is_empty());
    }
    assert_eq!(kernel.access.caches().count(), 0);
}

fn weights_are_reduced(kernel: &Kernel) {
    let memory = kernel.map.with_memory();
    let weight = |node| kernel.access.weight(node);
    assert!(memory.iter().all(|node| (1..=32).contains(&weight(node))));
    let divides = |by: &u8| memory.iter().all(|node| weight(node).is_multiple_of(*by));
    assert_eq!((2..=32).find(divides), None, "a common divisor of all weights");
}

/// Over nodes with 16 MiB and more: they have as many frames.
fn weighted_interleaving_follows_the_weights(kernel: &Kernel) {
    const ROUNDS: usize = 3;
    let nodes = interleave_nodes(kernel.map);
    let turns = WeightedInterleave::new(nodes, kernel.access.weights());
    let weight = |node| usize::from(kernel.access.weight(node));
    let all: usize = nodes.iter().map(weight).sum();
    let request = Request::new(nearmem::Order::ZERO).on(Policy::WeightedInterleave(&turns));
    let blocks: Vec<_> =
        (0..ROUNDS * all).map(|_| kernel.memory.alloc(&request).expect("a frame")).collect();
    for node in nodes.iter() {
        let served = blocks.iter().filter(|block| block.zone().node == node).count();
        assert_eq!(served, ROUNDS * weight(node), "frames of node {node}");
    }
    blocks.into_iter().for_each(|block| give_back(kernel.memory, block));
}
