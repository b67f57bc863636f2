//! Page tables.

mod direct_map;

pub use direct_map::direct_map;
