//! Fallback orders of machines: the reference's vectors, and what a stock Linux 6.1 printed.

use super::*;
use std::vec::Vec;

/// The lists of all nodes, those without memory included.
fn orders(distances: &[&[u8]], without_memory: &[u16]) -> Vec<Vec<u16>> {
    let nodes = distances.len() as u16;
    let with_memory: NodeSet =
        (0..nodes).filter(|node| !without_memory.contains(node)).map(NodeId).collect();
    let mut orders =
        FallbackOrders::new(&with_memory, |from, to| distances[from.index()][to.index()]);
    (0..nodes)
        .map(|node| {
            let mut list = Vec::new();
            orders.list(NodeId(node), |next| list.push(next.0));
            assert_eq!(list.len(), orders.len(NodeId(node)));
            list
        })
        .collect()
}

fn matrix(nodes: u8, distance: impl Fn(u8, u8) -> u8) -> Vec<Vec<u8>> {
    (0..nodes).map(|from| (0..nodes).map(|to| distance(from, to)).collect()).collect()
}

fn orders_of(matrix: &[Vec<u8>]) -> Vec<Vec<u16>> {
    orders(&matrix.iter().map(|row| &row[..]).collect::<Vec<_>>(), &[])
}

/// `"012 102"`: one digit a node, one word a list.
fn digits(text: &str) -> Vec<Vec<u16>> {
    text.split(' ')
        .map(|list| list.bytes().map(|digit| u16::from(digit - b'0')).collect())
        .collect()
}

#[test]
fn vectors_of_the_reference() {
    let flat = |from, to| if from == to { 10 } else { 20 };
    assert_eq!(orders_of(&matrix(4, flat)), digits("0123 1230 2301 3012"));

    let ring = matrix(4, |from, to| [10, 20, 30, 20][usize::from(to.abs_diff(from))]);
    assert_eq!(orders_of(&ring), digits("0132 1203 2310 3021"));

    let groups = matrix(8, |from, to| match (from == to, from / 4 == to / 4) {
        (true, _) => 10,
        (_, true) => 12,
        _ => 32,
    });
    assert_eq!(
        orders_of(&groups),
        digits("01234567 12305674 23016745 30127456 45670123 56741230 67452301 74563012")
    );

    let memory_only: [&[u8]; 3] = [&[10, 20, 21], &[20, 10, 21], &[21, 21, 10]];
    assert_eq!(orders(&memory_only, &[]), digits("012 102 201"));
}

/// As rotations: node n, n + 1, … round to n - 1. So did Linux 6.1.192 in QEMU print them for test
/// machine `nodes-64`, and 8 equal nodes are a vector of the reference.
#[test]
fn equally_far_nodes_take_turns() {
    for nodes in [1, 2, 8, 64] {
        let lists = orders_of(&matrix(nodes, |from, to| if from == to { 10 } else { 20 }));
        for (node, list) in lists.iter().enumerate() {
            let expected: Vec<u16> = (0..usize::from(nodes))
                .map(|step| ((node + step) % usize::from(nodes)) as u16)
                .collect();
            assert_eq!(*list, expected);
        }
    }
}

/// Linux 6.1.192 in QEMU, test machine `asymmetric-4`.
#[test]
fn linux_asymmetric_4() {
    let distances: [&[u8]; 4] =
        [&[10, 20, 100, 254], &[30, 10, 21, 11], &[254, 12, 10, 50], &[16, 200, 17, 10]];
    let expected: [&[u16]; 4] = [&[0, 1, 2, 3], &[1, 3, 2, 0], &[2, 1, 3, 0], &[3, 0, 2, 1]];
    assert_eq!(orders(&distances, &[]), expected);
}

/// Linux 6.1.192 in QEMU, test machine `memoryless`.
#[test]
fn linux_memoryless() {
    let distances: [&[u8]; 3] = [&[10, 20, 40], &[20, 10, 15], &[40, 15, 10]];
    let expected: [&[u16]; 3] = [&[0, 2], &[1, 2, 0], &[2, 0]];
    assert_eq!(orders(&distances, &[1]), expected);
}

/// Linux 6.1.192 in QEMU, test machine `memoryless-other`.
#[test]
fn linux_memoryless_other() {
    let distances: [&[u8]; 2] = [&[10, 20], &[20, 10]];
    let expected: [&[u16]; 2] = [&[0], &[1, 0]];
    assert_eq!(orders(&distances, &[1]), expected);
}

/// Linux 6.1.192 in QEMU, test machine `cpuless`.
#[test]
fn linux_cpuless() {
    let distances: [&[u8]; 4] =
        [&[10, 21, 17, 28], &[21, 10, 28, 17], &[17, 28, 10, 28], &[28, 17, 28, 10]];
    let expected: [&[u16]; 4] = [&[0, 2, 1, 3], &[1, 3, 0, 2], &[2, 0, 3, 1], &[3, 1, 0, 2]];
    assert_eq!(orders(&distances, &[]), expected);
}

/// Linux 6.1.192 in QEMU, test machine `uneven-3`.
#[test]
fn linux_uneven_3() {
    let distances: [&[u8]; 3] = [&[10, 20, 20], &[20, 10, 20], &[20, 20, 10]];
    let expected: [&[u16]; 3] = [&[0, 1, 2], &[1, 2, 0], &[2, 0, 1]];
    assert_eq!(orders(&distances, &[]), expected);
}

/// Linux 6.1.192 in QEMU, test machine `ring-16`: 10 more with every step round the ring.
#[test]
fn linux_ring_16() {
    let ring = matrix(16, |from, to| 10 + 10 * to.abs_diff(from).min(16 - to.abs_diff(from)));
    let expected: [&[u16]; 16] = [
        &[0, 1, 15, 2, 14, 3, 13, 4, 12, 5, 11, 6, 10, 7, 9, 8],
        &[1, 2, 0, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10, 8, 9],
        &[2, 3, 1, 4, 0, 5, 15, 6, 14, 7, 13, 8, 12, 9, 11, 10],
        &[3, 4, 2, 5, 1, 6, 0, 15, 7, 14, 8, 13, 9, 12, 10, 11],
        &[4, 5, 3, 6, 2, 7, 1, 8, 0, 9, 15, 10, 14, 11, 13, 12],
        &[5, 6, 4, 7, 3, 8, 2, 9, 1, 10, 0, 15, 11, 14, 12, 13],
        &[6, 7, 5, 8, 4, 9, 3, 10, 2, 11, 1, 12, 0, 13, 15, 14],
        &[7, 8, 6, 9, 5, 10, 4, 11, 3, 12, 2, 13, 1, 14, 0, 15],
        &[8, 9, 7, 10, 6, 11, 5, 12, 4, 13, 3, 14, 2, 15, 1, 0],
        &[9, 10, 8, 11, 7, 12, 6, 13, 5, 14, 4, 15, 3, 0, 2, 1],
        &[10, 11, 9, 12, 8, 13, 7, 14, 6, 15, 5, 0, 4, 1, 3, 2],
        &[11, 12, 10, 13, 9, 14, 8, 15, 7, 0, 6, 1, 5, 2, 4, 3],
        &[12, 13, 11, 14, 10, 15, 9, 0, 8, 1, 7, 2, 6, 3, 5, 4],
        &[13, 14, 12, 15, 11, 0, 10, 1, 9, 2, 8, 3, 7, 4, 6, 5],
        &[14, 15, 13, 0, 12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6],
        &[15, 0, 14, 1, 13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8, 7],
    ];
    assert_eq!(orders_of(&ring), expected);
}
