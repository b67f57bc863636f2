//! How many buckets a table gets: memory and a few limits in, a power of two out.
//!
//! The rule is Linux 6.1's (reference: large-system-hash, section 1).
#![forbid(unsafe_code)]

use crate::units::{PAGE_SHIFT, PAGE_SIZE};

/// From this many frames (64 GiB) on memory * 4 means size * 2.
const ADAPT_FROM: u64 = (64 << 30) >> PAGE_SHIFT;
/// Memory counts in steps of 1 MiB, in frames.
const ROUND: u64 = (1 << 20) >> PAGE_SHIFT;
/// No table has more entries.
const MOST_ENTRIES: u64 = 0x8000_0000;

/// Memory that sizes are computed from, in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryPages {
    /// Linux's `nr_kernel_pages`; see [`zone::kernel_pages`](crate::zone::kernel_pages).
    pub kernel: u64,
    /// Linux's `nr_all_pages`: the same on x86_64.
    pub all: u64,
}

/// What a table's size depends on, beside memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeRule {
    /// Bytes of one bucket, at least 1.
    pub bucket_bytes: u64,
    /// Entries asked for; 0: by memory. Either is rounded up to a power of two and limited.
    pub entries: u64,
    /// One bucket for each 2^scale bytes of memory.
    pub scale: u32,
    /// The least entries.
    pub low_limit: u64,
    /// The most entries, which wins over the least; 0: a sixteenth of memory, and adapted to
    /// large memory.
    pub high_limit: u64,
    /// A small table (HASH_SMALL): may be less than a page; log2 of its least entries.
    pub small: Option<u32>,
}

impl SizeRule {
    /// log2 of the number of entries, 0 to 31.
    pub fn shift(&self, memory: MemoryPages) -> u32 {
        let bucket = self.bucket_bytes.max(1);
        let wanted = if self.entries != 0 { self.entries } else { self.by_memory(memory.kernel) };
        let rounded = wanted.max(1).checked_next_power_of_two().unwrap_or(MOST_ENTRIES);
        let most = match self.high_limit {
            0 => (memory.all.saturating_mul(PAGE_SIZE) >> 4) / bucket,
            limit => limit,
        };
        let most = most.min(MOST_ENTRIES);
        // The limit need not be a power of two: rounding down here costs up to half of it.
        rounded.max(self.low_limit).min(most).checked_ilog2().unwrap_or(0)
    }

    fn by_memory(&self, pages: u64) -> u64 {
        let pages = pages.checked_next_multiple_of(ROUND).unwrap_or(pages);
        let mut scale = self.scale;
        if self.high_limit == 0 {
            let mut from = ADAPT_FROM;
            while from < pages {
                scale = scale.saturating_add(1);
                from = from.saturating_mul(4);
            }
        }
        let entries = if scale > PAGE_SHIFT {
            pages.checked_shr(scale - PAGE_SHIFT).unwrap_or(0)
        } else {
            pages.saturating_mul(1 << (PAGE_SHIFT - scale))
        };
        match self.small {
            Some(least) if entries.checked_shr(least).unwrap_or(0) == 0 => {
                1_u64.checked_shl(least).unwrap_or(MOST_ENTRIES)
            }
            Some(_) => entries,
            None if entries.saturating_mul(self.bucket_bytes) < PAGE_SIZE => {
                PAGE_SIZE / self.bucket_bytes.max(1)
            }
            None => entries,
        }
    }
}

/// Linux's order of a table: the smallest whose block holds `bytes`; may be above 10.
pub const fn order_of(bytes: u64) -> u32 {
    let pages = bytes.div_ceil(PAGE_SIZE);
    if pages <= 1 { 0 } else { u64::BITS - (pages - 1).leading_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rule(bucket_bytes: u64, scale: u32, low_limit: u64, high_limit: u64) -> SizeRule {
        SizeRule { bucket_bytes, entries: 0, scale, low_limit, high_limit, small: None }
    }

    const DENTRY: SizeRule = rule(8, 13, 2, 0);
    const RULES: [SizeRule; 6] = [
        DENTRY,
        rule(8, 14, 0, 0),
        rule(8, 19, 0, 0),
        rule(8, 17, 0, 524288),
        rule(32, 21, 256, 65536),
        rule(8, 16, 2048, 262144),
    ];

    fn entries(rule: SizeRule, pages: u64) -> u64 {
        1 << rule.shift(MemoryPages { kernel: pages, all: pages })
    }

    #[test]
    fn sizes_are_linux_own() {
        // Dentry, inode, mount, TCP established, UDP, IP idents, for memory in frames.
        for (pages, expected) in [
            (32210, [16384, 8192, 512, 1024, 256, 2048]),
            (515375, [262144, 131072, 4096, 16384, 1024, 32768]),
            (1030750, [524288, 262144, 8192, 32768, 2048, 65536]),
            (4123000, [2097152, 1048576, 32768, 131072, 8192, 262144]),
            (16492003, [8388608, 4194304, 131072, 524288, 32768, 262144]),
            (65968013, [16777216, 8388608, 262144, 524288, 65536, 262144]),
            (263872053, [33554432, 16777216, 524288, 524288, 65536, 262144]),
        ] {
            assert_eq!(RULES.map(|rule| entries(rule, pages)), expected, "{pages} frames");
        }
    }

    #[test]
    fn from_64_gib_on_four_times_the_memory_is_twice_the_table() {
        // GiB of memory and MiB of dentry table (Linux 9017217b6f45).
        for (gib, mib) in [
            (8, 8),
            (16, 16),
            (32, 32),
            (64, 64),
            (128, 64),
            (256, 128),
            (512, 128),
            (1024, 256),
            (2048, 256),
            (4096, 512),
            (8192, 512),
            (16384, 1024),
        ] {
            assert_eq!(entries(DENTRY, gib << 18) * 8, mib << 20, "{gib} GiB");
        }
    }

    #[test]
    fn a_tiny_machine_gets_tiny_tables_of_at_least_a_page() {
        let pages = (16 << 20) / PAGE_SIZE;
        for rule in RULES {
            let bytes = entries(rule, pages) * rule.bucket_bytes;
            assert!((PAGE_SIZE..=(16 << 20) / 256).contains(&bytes), "{rule:?}: {bytes}");
        }
    }

    #[test]
    fn entries_given_are_rounded_up_and_limited_but_not_raised_to_a_page() {
        let given = |entries| SizeRule { entries, ..DENTRY };
        assert_eq!(entries(given(1000), 1 << 18), 1024);
        assert_eq!(entries(given(1), 1 << 18), 2, "the low limit");
        assert_eq!(entries(given(u64::MAX), 1 << 18), 8 << 20, "a sixteenth of memory");
        assert_eq!(entries(given(u64::MAX), u64::MAX), MOST_ENTRIES);
        let odd = SizeRule { high_limit: 1000, ..given(4096) };
        assert_eq!(entries(odd, 1 << 18), 512, "rounded down after the limit");
    }

    #[test]
    fn a_small_table_may_be_less_than_a_page() {
        let pid = SizeRule { small: Some(4), ..rule(8, 18, 0, 4096) };
        assert_eq!(entries(pid, 256), 16);
        assert_eq!(entries(pid, 32210), 512);
        assert_eq!(entries(pid, 1030750), 4096);
    }

    #[test]
    fn absurd_rules_do_not_panic() {
        for scale in [0, 12, 63, 64, 75, 76, 77, u32::MAX] {
            for (bucket_bytes, small) in [(0, None), (1, Some(u32::MAX)), (u64::MAX, Some(64))] {
                let rule = SizeRule { bucket_bytes, small, ..rule(8, scale, 0, 0) };
                for pages in [0, 1, u64::MAX / PAGE_SIZE, u64::MAX] {
                    assert!(rule.shift(MemoryPages { kernel: pages, all: pages }) <= 31);
                }
            }
        }
    }

    #[test]
    fn the_order_of_a_table_may_be_above_ten() {
        for (bytes, order) in [(128, 0), (4096, 0), (8192, 1), (4 << 20, 10), (32 << 20, 13)] {
            assert_eq!(order_of(bytes), order);
        }
    }
}
