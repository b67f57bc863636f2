//! What must hold of the decoders, the command line, the memory map and the node map, whatever
//! bytes go in.
//!
//! Bytes flow in; nothing comes out, or a panic that says what does not hold. Each target is one
//! function. libFuzzer drives them (`fuzz/`), `cargo test` runs them on the inputs that once
//! failed and on some random ones, and the example `flood` on billions of bytes.
#![forbid(unsafe_code)]

mod bytes;
pub mod cedt;
pub mod command_line;
mod findings;
pub mod hmat;
pub mod likely;
pub mod machine;
pub mod madt;
mod map;
pub mod memory_map;
pub mod random;
mod seen;
pub mod shape;
pub mod slit;
pub mod srat;

pub use findings::Collected;

/// A target: what its corpus directory and its fuzz target are called, and the function that
/// takes one input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("srat", srat::check),
    ("slit", slit::check),
    ("hmat", hmat::check),
    ("madt", madt::check),
    ("cedt", cedt::check),
    ("command_line", command_line::check),
    ("memory_map", memory_map::check),
    ("machine", machine::check),
    ("machine_shape", shape::check),
];
