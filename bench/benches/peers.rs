//! Times of the allocator and its peers in one run, as ratios at the end.
//!
//! `cargo bench -p nearmem-bench --bench peers -- FILTER` runs a part;
//! `NEARMEM_BENCH_THREADS=1,2,8` says with how many threads.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use nearmem_bench::peers::{ArrayStack, Bitmap, Buddy, Nearmem};
use nearmem_bench::report::{self, CONTROL};
use nearmem_bench::workloads::{
    CONTROL_STEPS, EXCHANGED, PAIRS_WHEN_FULL, bulk, bulk_blocks, control, exchange, fill,
    fill_frames, latency, pair, pairs, random_free,
};
use nearmem_bench::{Peer, Results, options};

const ORDERS: [u8; 4] = [0, 1, 3, 9];
/// Single operations are timed so many times over.
const LATENCY_RUNS: usize = 5;

fn main() {
    let threads = options::threads();
    let most = threads.last().copied().unwrap_or(1);
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .nresamples(2000)
        .without_plots()
        .configure_from_args();
    let mut results = Results::default();
    let mut runs = Runs { criterion: &mut criterion, results: &mut results, threads: &threads };

    runs.controls();
    runs.all(&ArrayStack::new());
    runs.all(&Nearmem::new(most));
    runs.all(&Buddy::new());
    runs.all(&Bitmap::new());
    criterion.final_summary();
    if options::only_tries() {
        return;
    }

    println!("\nTimes of one operation, and as ratios to the mutexed array stack's pair:\n");
    println!("{}", report::everything(&results));
    println!("\nAgainst the targets, as ratios to the mutexed array stack's pair on one thread:\n");
    println!("{}", report::targets(&results, &threads));
}

struct Runs<'a> {
    criterion: &'a mut Criterion,
    results: &'a mut Results,
    threads: &'a [usize],
}

impl Runs<'_> {
    fn controls(&mut self) {
        for &threads in self.threads {
            let work = || [control(threads)];
            self.run([CONTROL], CONTROL, threads, [CONTROL_STEPS], work);
        }
    }

    /// All workloads on one allocator.
    fn all<P: Peer>(&mut self, peer: &P) {
        let all_threads = self.threads;
        for order in ORDERS.into_iter().filter(|&order| peer.has(order)) {
            for &threads in all_threads {
                let name = format!("pair, order {order}");
                self.run([&name], P::NAME, threads, [pairs(order)], || {
                    [pair(peer, order, threads)]
                });
                let names = ["alloc", "free"].map(|way| format!("bulk {way}, order {order}"));
                let names = [&names[0][..], &names[1]];
                let blocks = bulk_blocks(order, threads);
                self.run(names, P::NAME, threads, [blocks; 2], || bulk(peer, order, threads));
            }
        }
        for &threads in all_threads {
            let blocks = bulk_blocks(0, threads);
            self.run(["random free, order 0"], P::NAME, threads, [blocks], || {
                [random_free(peer, 0, threads)]
            });
            let names = ["fill to 99 %", "pair at 99 %"];
            let counts = [fill_frames(threads), PAIRS_WHEN_FULL];
            self.run(names, P::NAME, threads, counts, || fill(peer, threads));
        }
        for &threads in all_threads.iter().filter(|&&threads| threads > 1) {
            self.run(["producer and consumer"], P::NAME, threads, [EXCHANGED], || {
                [exchange(peer, threads)]
            });
        }
        if options::is_wanted("latency") {
            self.latencies(peer);
        }
    }

    /// One workload through criterion, its first part as criterion's, and all parts of each round
    /// on record. `counts`: operations of a round.
    fn run<const PARTS: usize>(
        &mut self,
        names: [&str; PARTS],
        peer: &'static str,
        threads: usize,
        counts: [u64; PARTS],
        mut work: impl FnMut() -> [Duration; PARTS],
    ) {
        let mut group = self.criterion.benchmark_group(names[0]);
        group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(counts[0]));
        let mut round = || {
            let times = work();
            for ((name, time), count) in names.iter().zip(times).zip(counts) {
                let each = time.as_nanos() as f64 / count as f64;
                self.results.add(name, peer, threads, each);
            }
            times[0]
        };
        group.bench_function(BenchmarkId::new(peer, threads), |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| round()).sum());
        });
    }

    fn latencies<P: Peer>(&mut self, peer: &P) {
        for &threads in self.threads {
            for _ in 0..LATENCY_RUNS {
                let found = latency(peer, threads);
                let named = [("p50", found.p50), ("p99", found.p99), ("p99.9", found.p999)];
                for (name, time) in named {
                    let name = format!("latency {name}");
                    self.results.add(&name, P::NAME, threads, f64::from(time));
                }
            }
        }
    }
}
