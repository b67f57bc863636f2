//! What `numa=fake=` asks for: how nodes are split, and how far the parts are from each other.
//!
//! Text comes in checked by the command line's parser; [`emulate`](super::emulate) carries it out.

use crate::ids::NodeId;

/// `numa=fake=`: the nodes that the tables give, or the one that there is without them, are split
/// into fake nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FakeNodes<'a> {
    /// How they are split.
    pub split: Split,
    /// Their distances; those that are missing are those of the nodes they are parts of.
    pub distances: FakeDistances<'a>,
}

/// How nodes are split (reference: numa-discovery, section 8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// `fake=N`: all memory in this many fake nodes, nearly equal in usable memory.
    Nodes(u32),
    /// `fake=SIZE`: fake nodes of this many bytes of usable memory.
    Size(u64),
    /// `fake=NU`: each node in this many parts of equal length, holes included.
    EachNode(u32),
}

/// A list of distances, row by row, as text: numbers from 10 to 255 with commas between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FakeDistances<'a> {
    text: &'a str,
}

impl<'a> FakeDistances<'a> {
    /// Takes a list; `None` when something in it is not a number from 10 to 255. It may be empty
    /// and may end in a comma.
    pub fn parse(text: &'a str) -> Option<FakeDistances<'a>> {
        let list = FakeDistances { text: text.strip_suffix(',').unwrap_or(text) };
        list.words().all(|word| distance(word).is_some()).then_some(list)
    }

    /// The distances, in order.
    pub fn iter(self) -> impl Iterator<Item = u8> + 'a {
        self.words().filter_map(distance)
    }

    fn words(self) -> impl Iterator<Item = &'a str> {
        self.text.split(',').take(if self.text.is_empty() { 0 } else { usize::MAX })
    }
}

/// 10 is a node's distance to itself and the least there is (ACPI 6.5, 5.2.17).
fn distance(word: &str) -> Option<u8> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|&distance| plain && distance >= super::distances::LOCAL)
}

/// The fake nodes of a map and the nodes that they are parts of. Without any, each node is its
/// own.
#[derive(Clone, Copy, Default)]
pub struct Parts<'m> {
    /// The node that fake node `n` is a part of, by `n`.
    pub(super) of: &'m [NodeId],
}

impl Parts<'_> {
    /// The node that `node` is a part of.
    pub fn whole(&self, node: NodeId) -> NodeId {
        self.of.get(node.index()).copied().unwrap_or(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_list_is_taken_whole_or_not_at_all() {
        for (text, list) in [
            ("", Some(&[][..])),
            ("10", Some(&[10])),
            ("10,255,20,10", Some(&[10, 255, 20, 10])),
            ("10,20,", Some(&[10, 20])),
            (",", Some(&[])),
            ("10,,20", None),
            ("10,9", None),
            ("10,256", None),
            ("10, 20", None),
            ("+10", None),
            ("10-20", None),
        ] {
            let parsed = FakeDistances::parse(text).map(|list| list.iter().collect::<Vec<_>>());
            assert_eq!(parsed.as_deref(), list, "{text:?}");
        }
    }
}
