//! Decoders of the firmware's affinity tables: bytes in, records and findings out.
//!
//! No `unsafe`, no panic, no read past a length that a table or a record gives.
#![forbid(unsafe_code)]
