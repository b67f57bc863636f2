//! The arithmetic of interleaved runs, apart from the code that it is held against.

/// Pages by node as vmalloc's batches deal them, from the first node on.
pub fn dealt(pages: u64, nodes: u64) -> Vec<u64> {
    let mut counts = vec![0; nodes as usize];
    let mut left = pages;
    while left > 0 {
        let batch = left.min(100);
        for (node, count) in counts.iter_mut().enumerate() {
            *count += batch / nodes + u64::from((node as u64) < batch % nodes);
        }
        left -= batch;
    }
    counts
}
