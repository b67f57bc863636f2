//! Decoders of the firmware's affinity tables: bytes in, records and findings out.
//!
//! ```text
//! bytes -> Table (header, length, checksum) -> Srat -> Entry, Entry, ...
//!                                           -> Slit -> distance by domain
//!                                           -> Hmat -> Structure, Structure, ...
//!                                           -> Madt -> Entry, Entry, ... -> present CPUs
//!                                           -> Cedt -> Entry, Entry, ...
//! ```
//!
//! No `unsafe`, no panic, no read past a length that a table or a record gives. What a decoder
//! tolerates it says: a damaged table is a [`Finding`](crate::finding::Finding), a damaged record
//! is a value ([`srat::Body`], [`hmat::Body`]), and the node map decides what follows from it.
#![forbid(unsafe_code)]

#[cfg(test)]
mod by_hand;
mod bytes;
pub mod cedt;
mod header;
pub mod hmat;
pub mod madt;
pub mod slit;
pub mod srat;
mod walk;

pub use header::{Header, Signature, Table};
