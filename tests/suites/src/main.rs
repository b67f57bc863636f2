//! In-kernel suites.
fn main() {}
