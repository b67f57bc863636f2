//! What the command line chooses of the hash tables.
#![forbid(unsafe_code)]

/// `hashdist=` and the sizes of the tables, in entries; 0 and `None`: by memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HashOptions {
    /// `hashdist=`: spread the tables over the nodes.
    pub hashdist: Option<bool>,
    /// `dhash_entries=`: dentry table.
    pub dhash_entries: Option<u64>,
    /// `ihash_entries=`: inode table.
    pub ihash_entries: Option<u64>,
    /// `mhash_entries=`: mount table.
    pub mhash_entries: Option<u64>,
    /// `mphash_entries=`: mountpoint table.
    pub mphash_entries: Option<u64>,
    /// `thash_entries=`: TCP's established connections.
    pub thash_entries: Option<u64>,
    /// `uhash_entries=`: UDP, at least 256.
    pub uhash_entries: Option<u64>,
}

impl HashOptions {
    /// Whether tables are spread. Without an option: where more than one node has memory; the
    /// option wins even on a machine with one (reference: large-system-hash, section 3).
    pub fn distribute(&self, nodes_with_memory: usize) -> bool {
        self.hashdist.unwrap_or(nodes_with_memory > 1)
    }
}
