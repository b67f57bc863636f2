//! Runs random operations on random machines, several CPUs at once, for as long as one likes:
//! `cargo run --profile kernel -p nearmem-checks --example soak -- SECONDS [SEED [CPUS]]`.
//!
//! Each round makes a machine of its own seed, SEED and on. Its CPUs, threads, allocate and free
//! blocks of all orders under all policies, split them, hand them to each other, take and put
//! contiguous frames, take frames off zones and give them back, and drain each other. No frame may
//! have two owners, and what is written into it has to stay. When all are done, free frames = bits =
//! counters, in every zone, and with everything freed the zones are as at the start.
//!
//! A line a minute and one at the end: seeds, seconds, operations. A failure names its seed.

mod cpu;
mod machine;
mod owners;
mod rest;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nearmem::CpuId;
use nearmem_checks::random::Random;

use crate::cpu::{Cpu, Done};
use crate::machine::{Mm, on_all_cpus};
use crate::owners::Owners;

/// Steps of one CPU in one round.
const STEPS: usize = 30_000;

/// The seed of the round that is running, for a failure's message.
static SEED: AtomicU64 = AtomicU64::new(0);

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (Some(Ok(seconds)), Ok(first), Ok(cpus @ 1..=64)) =
        (numbers.next(), numbers.next().unwrap_or(Ok(1)), numbers.next().unwrap_or(Ok(2)))
    else {
        eprintln!("soak SECONDS [SEED [CPUS]]");
        std::process::exit(2);
    };
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        eprintln!("failed with seed {}, {cpus} CPUs", SEED.load(Relaxed));
        print(panic);
        // The other CPUs would wait for this one.
        std::process::exit(1);
    }));
    let start = Instant::now();
    let mut told = Duration::ZERO;
    let mut all = Done::default();
    for seed in first.. {
        SEED.store(seed, Relaxed);
        all += round(seed, cpus as u16);
        let elapsed = start.elapsed();
        let over = elapsed >= Duration::from_secs(seconds);
        if over || elapsed - told >= Duration::from_secs(60) {
            println!("seeds {first}..={seed}, {cpus} CPUs, {} s: {all}", elapsed.as_secs());
            told = elapsed;
        }
        if over {
            return;
        }
    }
}

/// One machine, from its start to its end.
fn round(seed: u64, cpus: u16) -> Done {
    let mut random = Random::new(seed);
    let machine = machine::random(&mut random, cpus);
    let map = machine.map();
    let mm: Mm<'_> = machine.run_on(CpuId(0), || {
        let mm = machine.start(&map, Default::default());
        mm.drain_all();
        mm
    });
    let before = rest::picture(&mm);
    let owners = Owners::new(&map);
    let exchange = Default::default();
    let kept = on_all_cpus(&machine, &mm, |cpu| {
        let random = Random::new(seed.wrapping_mul(64) + u64::from(cpu.0) + 1);
        let mut cpu = Cpu::new(&mm, &owners, &exchange, random);
        for _ in 0..STEPS {
            cpu.step();
        }
        cpu.into_kept()
    });
    machine.run_on(CpuId(0), || {
        let exchange = exchange.lock().unwrap();
        rest::check(&mm, &owners, kept.iter().map(|(kept, _)| kept).chain([&*exchange]));
    });
    let mut done = Done::default();
    machine.run_on(CpuId(0), || {
        let mut last = Cpu::new(&mm, &owners, &exchange, random);
        for (kept, count) in kept {
            done += count;
            last.give_all(kept);
        }
        last.give_all(std::mem::take(&mut exchange.lock().unwrap()));
        mm.drain_all();
        assert_eq!(rest::picture(&mm), before, "not as it was");
        assert_eq!(owners.owned(), 0);
    });
    done
}
