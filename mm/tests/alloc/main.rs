//! The page allocator from the outside, on simulated machines.

mod counters;
mod exhaust;
mod failure;
mod hand_over;
mod machines;
mod misuse;
mod ownership;
mod pagesets;
mod policies;
mod random;
mod requests;
mod threads;
mod why;
