//! The tables that boot allocates, as data, in boot order.
//!
//! Sizes, limits and flags are Linux 6.1's (reference: large-system-hash, section 2), the PID
//! table's are those of kernels before 4.15.
#![forbid(unsafe_code)]

use super::options::HashOptions;
use super::size::{MemoryPages, SizeRule};

/// The machine, as far as the tables depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HashMachine {
    /// Its memory, in frames.
    pub memory: MemoryPages,
    /// CPUs that it may ever have.
    pub possible_cpus: u32,
    /// Nodes that have memory.
    pub nodes_with_memory: usize,
}

/// What one table shall be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableSpec {
    /// Linux's name.
    pub name: &'static str,
    /// How large.
    pub size: SizeRule,
    /// From boot memory, before the hand-over (HASH_EARLY).
    pub early: bool,
    /// Filled with zeros (HASH_ZERO). Whoever uses a table without it fills the buckets.
    pub zero: bool,
    /// Spread over the nodes (`hashdist`), unless it is early.
    pub distribute: bool,
    /// The memory that the size follows.
    pub memory: MemoryPages,
}

/// The tables of one boot.
///
/// ```
/// use nearmem::hash::{HashMachine, HashOptions, MemoryPages, Plan};
///
/// let machine = HashMachine {
///     memory: MemoryPages { kernel: 1030750, all: 1030750 },
///     possible_cpus: 4,
///     nodes_with_memory: 4,
/// };
/// let plan = Plan::new(&HashOptions::default(), machine);
/// let early: Vec<_> = plan.early().map(|table| table.name).collect();
/// assert_eq!(early, ["PID"]);
/// let dentry = plan.late().next().unwrap();
/// assert_eq!((dentry.name, dentry.entries()), ("Dentry cache", 524288));
///
/// let off = HashOptions { hashdist: Some(false), ..HashOptions::default() };
/// let early: Vec<_> = Plan::new(&off, machine).early().map(|table| table.name).collect();
/// assert_eq!(early, ["PID", "Dentry cache", "Inode-cache"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    tables: [TableSpec; TABLES],
}

const TABLES: usize = 9;
/// Where in the plan TCP's tables are; the second follows the first.
pub(super) const TCP_ESTABLISHED: &str = "TCP established";
pub(super) const TCP_BIND: &str = "TCP bind";

impl Plan {
    /// Plans the tables of a boot.
    pub fn new(options: &HashOptions, machine: HashMachine) -> Plan {
        let distribute = options.distribute(machine.nodes_with_memory);
        let table = |name, bucket_bytes, entries: Option<u64>, scale, low_limit, high_limit| {
            let entries = entries.unwrap_or(0);
            let size =
                SizeRule { bucket_bytes, entries, scale, low_limit, high_limit, small: None };
            TableSpec { name, size, early: false, zero: false, distribute, memory: machine.memory }
        };
        let zeroed = |table: TableSpec| TableSpec { zero: true, ..table };
        // Boot memory is one piece on one node: a table that is to be spread must come later.
        let early_unless_spread =
            |table: TableSpec| TableSpec { early: !distribute, zero: true, ..table };

        let pid = table("PID", 8, None, 18, 0, 4096);
        let pid = TableSpec { early: true, size: SizeRule { small: Some(4), ..pid.size }, ..pid };
        let dentry = table("Dentry cache", 8, options.dhash_entries, 13, 2, 0);
        let inode = table("Inode-cache", 8, options.ihash_entries, 14, 0, 0);
        let mount = table("Mount-cache", 8, options.mhash_entries, 19, 0, 0);
        let mountpoint = table("Mountpoint-cache", 8, options.mphash_entries, 19, 0, 0);
        let futexes =
            u64::from(machine.possible_cpus.max(1)).saturating_mul(256).next_power_of_two();
        let futex = table("futex", 64, Some(futexes), 0, futexes, futexes);
        let given = options.thash_entries.unwrap_or(0) != 0;
        let most = if given { 0 } else { 524288 };
        let established = table(TCP_ESTABLISHED, 8, options.thash_entries, 17, 0, most);
        let bind = table(TCP_BIND, 32, Some(established.entries()), 17, 0, 65536);
        let uhash = options.uhash_entries.filter(|&entries| entries != 0);
        let udp = table("UDP", 32, uhash.map(|entries| entries.max(256)), 21, 256, 65536);
        Plan {
            tables: [
                pid,
                early_unless_spread(dentry),
                early_unless_spread(inode),
                zeroed(mount),
                zeroed(mountpoint),
                futex,
                established,
                bind,
                udp,
            ],
        }
    }

    /// All tables, in boot order.
    pub fn tables(&self) -> impl Iterator<Item = &TableSpec> {
        self.tables.iter()
    }

    /// Those that come from boot memory.
    pub fn early(&self) -> impl Iterator<Item = &TableSpec> {
        self.tables().filter(|table| table.early)
    }

    /// Those that come after the hand-over.
    pub fn late(&self) -> impl Iterator<Item = &TableSpec> {
        self.tables().filter(|table| !table.early)
    }
}

impl TableSpec {
    /// Entries that the table shall have: a power of two.
    pub fn entries(&self) -> u64 {
        1 << self.size.shift(self.memory)
    }

    /// Bytes that the table shall have.
    pub fn bytes(&self) -> u64 {
        self.entries().saturating_mul(self.size.bucket_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const MACHINE: HashMachine = HashMachine {
        memory: MemoryPages { kernel: 1030750, all: 1030750 },
        possible_cpus: 3,
        nodes_with_memory: 2,
    };

    fn entries(options: HashOptions) -> Vec<(&'static str, u64)> {
        Plan::new(&options, MACHINE).tables().map(|table| (table.name, table.entries())).collect()
    }

    #[test]
    fn the_boot_list_and_its_sizes() {
        assert_eq!(
            entries(HashOptions::default()),
            [
                ("PID", 4096),
                ("Dentry cache", 524288),
                ("Inode-cache", 262144),
                ("Mount-cache", 8192),
                ("Mountpoint-cache", 8192),
                ("futex", 1024),
                ("TCP established", 32768),
                ("TCP bind", 32768),
                ("UDP", 2048),
            ]
        );
    }

    #[test]
    fn options_choose_the_entries() {
        let options = HashOptions {
            hashdist: None,
            dhash_entries: Some(5000),
            ihash_entries: Some(0),
            mhash_entries: Some(16),
            mphash_entries: Some(1),
            thash_entries: Some(1 << 20),
            uhash_entries: Some(1),
        };
        let all = entries(options);
        assert_eq!(all[1].1, 8192);
        assert_eq!(all[2].1, 262144, "0 is by memory");
        assert_eq!((all[3].1, all[4].1), (16, 1));
        assert_eq!(all[6].1, 1 << 20, "beyond the limit that holds without the option");
        assert_eq!(all[7].1, 65536, "bind follows established, up to its own limit");
        assert_eq!(all[8].1, 256);
    }

    #[test]
    fn one_node_with_memory_does_not_spread_unless_told_to() {
        let one = HashMachine { nodes_with_memory: 1, ..MACHINE };
        let spread = |hashdist| {
            let options = HashOptions { hashdist, ..HashOptions::default() };
            Plan::new(&options, one).tables().all(|table| table.distribute)
        };
        assert!(!spread(None) && !spread(Some(false)) && spread(Some(true)));
        assert!(Plan::new(&HashOptions::default(), MACHINE).tables().all(|table| table.distribute));
    }

    #[test]
    fn only_buckets_that_linux_zeroes_are_zeroed() {
        let plan = Plan::new(&HashOptions::default(), MACHINE);
        let zeroed: Vec<_> = plan.tables().filter(|table| table.zero).map(|t| t.name).collect();
        assert_eq!(zeroed, ["Dentry cache", "Inode-cache", "Mount-cache", "Mountpoint-cache"]);
    }
}
