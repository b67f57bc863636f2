//! A node's `numastat` (reference: formats, section 2).

use core::fmt::{Result, Write};

use crate::alloc::NumaCounters;

/// The six lines of one node: the sums over its zones.
pub fn write(out: &mut dyn Write, counters: &NumaCounters) -> Result {
    for (name, count) in [
        ("numa_hit", counters.hit),
        ("numa_miss", counters.miss),
        ("numa_foreign", counters.foreign),
        ("interleave_hit", counters.interleave_hit),
        ("local_node", counters.local),
        ("other_node", counters.other),
    ] {
        writeln!(out, "{name} {count}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn six_lines_in_linux_order() {
        let counters = NumaCounters {
            hit: 10,
            miss: 1,
            foreign: 2,
            interleave_hit: 3,
            local: 8,
            other: 3,
            refills: 99,
            drains: 98,
        };
        let mut out = String::new();
        write(&mut out, &counters).unwrap();
        assert_eq!(
            out,
            "numa_hit 10\nnuma_miss 1\nnuma_foreign 2\ninterleave_hit 3\nlocal_node 8\nother_node 3\n"
        );
    }
}
