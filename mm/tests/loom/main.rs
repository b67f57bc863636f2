//! Models of what CPUs do to each other, run through every interleaving by loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p nearmem --test loom --release`. The functions are the
//! shipped ones; the wrong variants show that the models would notice.
#![cfg(loom)]

mod block;
mod drain;
mod runs;
mod whole;
mod zone;
