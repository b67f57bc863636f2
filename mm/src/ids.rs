//! Names of nodes, CPUs, APICs and proximity domains.

use core::fmt;

/// The most nodes that a [`NodeSet`] can hold; as Linux with MAXSMP.
pub const MAX_NODES: usize = 1024;
/// The most CPUs that the crate counts with.
pub const MAX_CPUS: usize = 8192;

/// A node, as the kernel numbers it: 0 to [`MAX_NODES`] - 1, in the order in which the SRAT first
/// names its proximity domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct NodeId(pub u16);

/// A CPU, as the kernel numbers it: the boot CPU is 0, the others follow the MADT's enabled
/// entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct CpuId(pub u16);

/// A proximity domain (PXM): the firmware's name of a node, any 32-bit number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct ProximityDomain(pub u32);

/// A local APIC id: the firmware's name of a CPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct ApicId(pub u32);

impl NodeId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl CpuId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for ProximityDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A set of nodes, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NodeSet {
    words: [u64; MAX_NODES / 64],
}

impl NodeSet {
    /// No node.
    pub const EMPTY: NodeSet = NodeSet { words: [0; MAX_NODES / 64] };

    /// One node. Ids from [`MAX_NODES`] on are in no set.
    pub fn of(node: NodeId) -> NodeSet {
        let mut set = Self::EMPTY;
        set.insert(node);
        set
    }

    /// Adds a node; false when it was there already or is out of range.
    pub fn insert(&mut self, node: NodeId) -> bool {
        let Some(word) = self.words.get_mut(node.index() / 64) else { return false };
        let bit = 1 << (node.0 % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes a node out.
    pub fn remove(&mut self, node: NodeId) {
        if let Some(word) = self.words.get_mut(node.index() / 64) {
            *word &= !(1 << (node.0 % 64));
        }
    }

    /// Whether `node` is in it.
    pub fn contains(&self, node: NodeId) -> bool {
        self.words.get(node.index() / 64).is_some_and(|word| word >> (node.0 % 64) & 1 == 1)
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The nodes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, &word)| bits(word).map(move |bit| NodeId((at * 64) as u16 + bit)))
    }

    /// The node that comes at `place`, counted from 0, ascending.
    pub fn nth(&self, place: usize) -> Option<NodeId> {
        let mut left = place;
        for (at, &word) in self.words.iter().enumerate() {
            let here = word.count_ones() as usize;
            if left < here {
                return bits(word).map(|bit| NodeId((at * 64) as u16 + bit)).nth(left);
            }
            left -= here;
        }
        None
    }

    /// The lowest node, if there is one.
    pub fn first(&self) -> Option<NodeId> {
        self.iter().next()
    }

    /// The lowest node above `node`, if there is one.
    pub fn after(&self, node: NodeId) -> Option<NodeId> {
        let from = node.index() + 1;
        let mut rest = self.words.iter().enumerate().skip(from / 64);
        let (at, &word) = rest.next()?;
        let above = word & (u64::MAX << (from % 64));
        let (at, word) = match above {
            0 => rest.map(|(at, &word)| (at, word)).find(|&(_, word)| word != 0)?,
            above => (at, above),
        };
        bits(word).next().map(|bit| NodeId((at * 64) as u16 + bit))
    }
}

/// The bits of a word that are set, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = u16> {
    core::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as u16);
        word &= word.wrapping_sub(1);
        bit
    })
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> NodeSet {
        let mut set = NodeSet::EMPTY;
        for node in nodes {
            set.insert(node);
        }
        set
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|node| node.0)).finish()
    }
}

/// As Linux prints a list: `0-3,8`. Nothing for the empty set.
impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut nodes = self.iter().map(|node| node.0).peekable();
        let mut comma = "";
        while let Some(first) = nodes.next() {
            let mut last = first;
            while nodes.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn a_set_prints_as_a_list_of_ranges() {
        for (nodes, text) in [
            (&[][..], ""),
            (&[0], "0"),
            (&[0, 1, 2, 3, 8], "0-3,8"),
            (&[63, 64, 1023], "63-64,1023"),
        ] {
            let set: NodeSet = nodes.iter().map(|&node| NodeId(node)).collect();
            assert_eq!(format!("{set}"), text);
            assert_eq!(set.len(), nodes.len());
            let places = 0..nodes.len() + 1;
            assert!(places.map(|at| set.nth(at)).eq(set.iter().map(Some).chain([None])));
            for id in 0..MAX_NODES as u16 + 2 {
                let above = nodes.iter().copied().find(|&node| node > id).map(NodeId);
                assert_eq!(set.after(NodeId(id)), above, "above {id} in {text}");
            }
        }
    }

    #[test]
    fn ids_out_of_range_are_in_no_set() {
        let mut set = NodeSet::EMPTY;
        assert!(!set.insert(NodeId(MAX_NODES as u16)));
        assert!(!set.contains(NodeId(u16::MAX)));
        assert!(set.is_empty());
    }
}
