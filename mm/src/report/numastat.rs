//! A node's `numastat` (reference: formats, section 2).

use core::fmt::{Result, Write};

use super::figures::NumaEvents;

/// The six lines of one node: the sums over its zones.
pub fn write(out: &mut dyn Write, events: &NumaEvents) -> Result {
    for (name, count) in [
        ("numa_hit", events.hit),
        ("numa_miss", events.miss),
        ("numa_foreign", events.foreign),
        ("interleave_hit", events.interleave),
        ("local_node", events.local),
        ("other_node", events.other),
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
        let one = NumaEvents { hit: 7, miss: 1, foreign: 2, interleave: 3, local: 5, other: 3 };
        let mut out = String::new();
        write(&mut out, &one.plus(NumaEvents { hit: 3, local: 3, ..NumaEvents::default() }))
            .unwrap();
        assert_eq!(
            out,
            "numa_hit 10\nnuma_miss 1\nnuma_foreign 2\ninterleave_hit 3\nlocal_node 8\nother_node 3\n"
        );
    }
}
